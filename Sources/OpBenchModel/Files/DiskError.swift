import Glibc

/// The disk, or what stands in for it, said no: full, gone, broken. Nobody's bad input: `opbench` exits 1.
public struct DiskError: Error, Sendable, CustomStringConvertible {
    public let path: String
    /// errno.
    public let code: Int32

    public init(path: String, code: Int32) {
        self.path = path
        self.code = code
    }

    /// The path is at fault, and not the disk: it leads nowhere, or may not be written. nil if the disk is.
    public var badPath: InputError? {
        let codes = [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, EEXIST, ELOOP, ENAMETOOLONG]
        return codes.contains(code) ? .unwritable(path, code) : nil
    }

    public var description: String { "\(path): \(String(cString: strerror(code)))" }
}

extension InputError {
    /// A path that cannot be written to, by whatever reason `code` tells.
    static func unwritable(_ path: String, _ code: Int32) -> InputError {
        InputError(
            file: path, message: "cannot be written: \(String(cString: strerror(code)))",
            remedy: "name a writable place")
    }
}

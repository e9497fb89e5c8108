import Glibc

/// The disk, or what stands in for it, said no: full, gone, broken. Nobody's bad input: `opbench` exits 1.
public struct DiskError: Error, Sendable, CustomStringConvertible {
    public let path: String
    /// errno.
    public let code: Int32

    /// In place of what is to be done elsewhere.
    private let ownRemedy: String?

    public init(path: String, code: Int32, remedy: String? = nil) {
        self.path = path
        self.code = code
        ownRemedy = remedy
    }

    /// The path is at fault, and not the disk: it leads nowhere, or may not be written. nil if the disk is.
    public var badPath: InputError? {
        let codes = [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, EEXIST, ELOOP, ENAMETOOLONG]
        return codes.contains(code) ? .unwritable(path, code) : nil
    }

    public var description: String {
        "\(path): \(String(cString: strerror(code)))" + (remedy.map { "; \($0)" } ?? "")
    }

    /// What the user can do; nil where that is not known.
    private var remedy: String? {
        if let ownRemedy { return ownRemedy }
        return switch code {
        case ENOSPC, EDQUOT: "make room there, or name a folder on another disk"
        case EFBIG: "raise the limit of file sizes (ulimit -f), or measure less in one run"
        case EROFS, EACCES, EPERM: "name a place that can be written to"
        case ENOENT, ENOTDIR, ESTALE: "its folder is not there, or was removed meanwhile; name another place"
        case EMFILE, ENFILE: "raise the limit of open files (ulimit -n)"
        case EIO: "look for failures of that disk (dmesg)"
        default: nil
        }
    }
}

extension InputError {
    /// A path that cannot be written to, by whatever reason `code` tells.
    static func unwritable(_ path: String, _ code: Int32) -> InputError {
        InputError(
            file: path, message: "cannot be written: \(String(cString: strerror(code)))",
            remedy: "name a writable place")
    }
}

/// A call to the system failed with this `errno`.
public struct SystemError: Error, Sendable {
    public let code: Int32

    public init(code: Int32) { self.code = code }
}

import Glibc

/// A write failed on the disk: full, removed, broken. No input is at fault: `opbench` exits 1.
public struct DiskError: Error, Sendable, CustomStringConvertible {
    public let path: String
    /// errno.
    public let code: Int32

    /// A remedy that replaces the usual one.
    private let ownRemedy: String?

    public init(path: String, code: Int32, remedy: String? = nil) {
        self.path = path
        self.code = code
        ownRemedy = remedy
    }

    /// The path is at fault, not the disk: it does not exist or is not writable. Nil if the disk is at fault.
    public var badPath: InputError? {
        let codes = [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, EEXIST, ELOOP, ENAMETOOLONG]
        return codes.contains(code) ? .unwritable(path, code) : nil
    }

    public var description: String {
        "\(path): \(String(cString: strerror(code)))" + (remedy.map { "; \($0)" } ?? "")
    }

    /// The remedy for the user; nil if unknown.
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
    /// A path that cannot be written to, with the reason of `code`.
    static func unwritable(_ path: String, _ code: Int32) -> InputError {
        InputError(
            file: path, message: "cannot be written: \(String(cString: strerror(code)))",
            remedy: "name a writable place")
    }
}

/// A system call failed with this `errno`.
public struct SystemError: Error, Sendable {
    public let code: Int32

    public init(code: Int32) { self.code = code }
}

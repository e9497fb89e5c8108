import Glibc

/// The program that this process executes.
public enum OwnProgram {
    /// Names it even if its file has been replaced.
    static let link = "/proc/self/exe"

    /// Where its file lies, or lay; nil without /proc.
    public static var path: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(link, &buffer, buffer.count - 1)
        guard length > 0 else { return nil }
        return String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

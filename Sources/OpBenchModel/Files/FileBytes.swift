import Glibc

/// A call to the system failed with this `errno`.
public struct SystemError: Error, Sendable {
    public let code: Int32

    public init(code: Int32) { self.code = code }
}

/// Whole writes to a file descriptor.
public enum FileBytes {
    public static func write(_ text: String, to descriptor: Int32) throws(SystemError) {
        try write(Array(text.utf8), to: descriptor)
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if count < 0, errno != EINTR { throw SystemError(code: errno) }
            written += max(0, count)
        }
    }
}

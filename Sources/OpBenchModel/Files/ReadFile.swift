import Glibc

/// A regular file that is read from beginning to end in parts, with errors that a person can act on.
///
/// Anything else is refused unopened: a FIFO or `/dev/zero` may never end, and opening a device may trigger it. A file
/// longer than its limit is refused, even if it grows only while it is read.
package final class ReadFile {
    let path: String
    private let descriptor: Int32
    private let limit: Int
    /// In bytes, when it was opened.
    package let size: Int
    private var total = 0

    /// - Parameter limit: in bytes.
    package init(_ path: String, limit: Int) throws(InputError) {
        self.path = path
        self.limit = limit
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw Self.unreadable(path, errno) }
        let kind = facts.st_mode & S_IFMT
        if kind == S_IFDIR { throw Self.unreadable(path, EISDIR) }
        guard kind == S_IFREG else {
            throw InputError(
                file: path, message: "this is a device, FIFO or socket", remedy: "save its contents to a file")
        }
        if facts.st_size > limit { throw Self.tooLarge(path, limit) }
        size = Int(facts.st_size)
        // `O_NONBLOCK`: a FIFO may have replaced the file since, and opening it would wait.
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(path, errno) }
    }

    deinit { close(descriptor) }

    /// The next part of the file; empty at its end.
    package func next() throws(InputError) -> [UInt8] {
        while true {
            let (descriptor, size) = (descriptor, 1 << 18)
            var code: Int32 = 0
            let part = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                let result = read(descriptor, buffer.baseAddress, size)
                if result < 0 { code = errno }
                count = max(0, result)
            }
            if code == EINTR { continue }
            if code != 0 { throw Self.unreadable(path, code) }
            total += part.count
            if total > limit { throw Self.tooLarge(path, limit) }
            return part
        }
    }

    private static func unreadable(_ file: String, _ code: Int32) -> InputError {
        let reason = code == ENOENT ? "no such file" : "cannot be read: " + String(cString: strerror(code))
        return InputError(file: file, message: reason, remedy: "name a readable file")
    }

    private static func tooLarge(_ file: String, _ limit: Int) -> InputError {
        InputError(
            file: file, message: "the file is larger than \(limit >> 20) MiB", remedy: "is this the right file?")
    }
}

/// Reads a whole file of text.
public enum TextFile {
    /// The limit for a workload or any other handwritten file.
    public static let handwrittenLimit = 4 << 20

    /// - Throws: `InputError` if the file is not regular, cannot be read, exceeds `limit` bytes or is not UTF-8.
    public static func read(_ file: String, limit: Int = handwrittenLimit) throws(InputError) -> String {
        let source = try ReadFile(file, limit: limit)
        var bytes: [UInt8] = []
        while true {
            let part = try source.next()
            if part.isEmpty { break }
            bytes += part
        }
        return try text(of: bytes, file: file)
    }

    /// The text of a file that was read before.
    static func text(of bytes: [UInt8], file: String) throws(InputError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw notUTF8(file, bytes) }
        return text
    }

    /// Like `read`, for callers that collect several mistakes.
    static func readInput(_ file: String) throws(InputErrors) -> String {
        do {
            return try read(file)
        } catch {
            throw InputErrors(error)
        }
    }

    private static func notUTF8(_ file: String, _ bytes: [UInt8]) -> InputError {
        // The line of the first repaired byte; a replacement character in the file itself is three bytes.
        var (line, position) = (1, 0)
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            let width = UTF8.width(scalar)
            guard bytes[position...].prefix(width).elementsEqual(UTF8.encode(scalar)!) else { break }
            position += width
            if scalar == "\n" { line += 1 }
        }
        return InputError(file: file, line: line, message: "not UTF-8", remedy: "save the file as UTF-8")
    }
}

/// Whole reads and writes of a file descriptor.
public enum FileBytes {
    public static func write(_ text: String, to descriptor: Int32) throws(SystemError) {
        try write(Array(text.utf8), to: descriptor)
    }

    public static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if count < 0, errno != EINTR { throw SystemError(code: errno) }
            written += max(0, count)
        }
    }

    /// Reads a whole file of this program or of the system. `TextFile` reads files that a user names.
    public static func read(_ path: String) throws(SystemError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(code: errno) }
        defer { close(descriptor) }
        return try readAll(descriptor)
    }

    /// Reads up to the end.
    public static func readAll(_ descriptor: Int32) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += buffer[..<count]
            } else if errno != EINTR {
                throw SystemError(code: errno)
            }
        }
    }
}

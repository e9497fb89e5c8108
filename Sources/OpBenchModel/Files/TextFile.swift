import Glibc

/// Reads a whole file of text, with reasons that a person can act on.
enum TextFile {
    /// - Throws: `InputError` if the file cannot be read, exceeds `limit` bytes or is not UTF-8.
    static func read(_ file: String, limit: Int = 4 << 20) throws(InputError) -> String {
        let bytes = try contents(file, limit: limit)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            let line = 1 + validPrefix(of: bytes).count { $0 == UInt8(ascii: "\n") }
            throw InputError(file: file, line: line, message: "not UTF-8", remedy: "save the file as UTF-8")
        }
        return text
    }

    private static func contents(_ file: String, limit: Int) throws(InputError) -> [UInt8] {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(file, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw unreadable(file, errno) }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            if bytes.count > limit {
                throw InputError(
                    file: file, message: "the file is larger than \(limit >> 20) MiB", remedy: "is this the right file?"
                )
            }
        }
    }

    private static func unreadable(_ file: String, _ code: Int32) -> InputError {
        let reason = code == ENOENT ? "no such file" : "cannot be read: " + String(cString: strerror(code))
        return InputError(file: file, message: reason, remedy: "name a readable file")
    }

    /// The bytes before the first that is not UTF-8, by bisection of the length.
    private static func validPrefix(of bytes: [UInt8]) -> ArraySlice<UInt8> {
        var (valid, invalid) = (0, bytes.count)
        while invalid - valid > 1 {
            let middle = (valid + invalid) / 2
            if isPrefixValid(bytes[..<middle]) { valid = middle } else { invalid = middle }
        }
        return bytes[..<valid]
    }

    /// Whether the bytes are UTF-8 but for a scalar that the end cuts off.
    private static func isPrefixValid(_ bytes: ArraySlice<UInt8>) -> Bool {
        (0...3).contains { cut in String(validating: bytes.dropLast(cut), as: UTF8.self) != nil }
    }
}

/// Reads a whole file of text.
public enum TextFile {
    /// The size of a workload, and of anything else that a person writes.
    public static let handwrittenLimit = 4 << 20

    /// - Throws: `InputError` if the file is no regular one, cannot be read, exceeds `limit` bytes or is not UTF-8.
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

    /// As `read`, for what is to be told together with other mistakes.
    static func readInput(_ file: String) throws(InputErrors) -> String {
        do {
            return try read(file)
        } catch {
            throw InputErrors(error)
        }
    }

    private static func notUTF8(_ file: String, _ bytes: [UInt8]) -> InputError {
        // The line of the first that is repaired; a replacement that stands there already is three bytes of its own.
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

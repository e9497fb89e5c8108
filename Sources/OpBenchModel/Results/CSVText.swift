/// The text of CSV (RFC 4180), without any meaning. Written out because the reader must name line and column, refuse
/// stray quotes and files cut off, and keep spaces: SwiftCSV, which was tried, strips leading spaces of fields, loses
/// an empty last field, takes an unclosed quote for the end, and does not quote line breaks when it writes.
enum CSVText {
    struct Record {
        /// Where it begins, from 1.
        let line: Int
        let fields: [String]
    }

    static func line(_ fields: [String]) -> String {
        fields.map(quotedIfNeeded).joined(separator: ",") + "\n"
    }

    private static func quotedIfNeeded(_ field: String) -> String {
        let special = field.utf8.contains { byte in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
                || byte == UInt8(ascii: "\r")
        }
        return special
            ? "\"" + field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
            : field
    }

    /// The text up to and with the last line end that is outside of quotes.
    static func wholeLines(of text: String) -> String {
        var isQuoted = false
        var length = 0
        for (index, byte) in text.utf8.enumerated() {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: "\n") && !isQuoted { length = index + 1 }
        }
        return String(decoding: text.utf8.prefix(length), as: UTF8.self)
    }

    /// Every record, none of them cut off.
    static func records(of text: String, file: String) throws(InputError) -> [Record] {
        var reader = Reader(bytes: Array(text.utf8), file: file)
        var records: [Record] = []
        while !reader.isAtEnd { records.append(try reader.record()) }
        return records
    }

    private struct Reader {
        let bytes: [UInt8]
        let file: String
        var position = 0
        var line = 1

        var isAtEnd: Bool { position == bytes.count }
        private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func record() throws(InputError) -> Record {
            let start = line
            var fields: [String] = []
            while true {
                fields.append(peek == UInt8(ascii: "\"") ? try quotedField() : try plainField())
                if peek == UInt8(ascii: ",") {
                    position += 1
                } else {
                    try endOfLine()
                    return Record(line: start, fields: fields)
                }
            }
        }

        private mutating func endOfLine() throws(InputError) {
            if peek == UInt8(ascii: "\r") {
                position += 1
                guard peek == UInt8(ascii: "\n") else { throw failure("a carriage return without a line feed") }
            }
            guard let byte = peek else { throw failure("the last line is not ended, so the file was cut off") }
            guard byte == UInt8(ascii: "\n") else { throw failure("text after a closing quote") }
            position += 1
            line += 1
        }

        private mutating func plainField() throws(InputError) -> String {
            let start = position
            while let byte = peek, byte != UInt8(ascii: ","), byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
                if byte == UInt8(ascii: "\"") { throw failure("a quote inside a field that does not begin with one") }
                position += 1
            }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }

        private mutating func quotedField() throws(InputError) -> String {
            let start = line
            position += 1
            var field: [UInt8] = []
            while let byte = peek {
                position += 1
                if byte == UInt8(ascii: "\"") {
                    guard peek == UInt8(ascii: "\"") else { return String(decoding: field, as: UTF8.self) }
                    position += 1
                }
                if byte == UInt8(ascii: "\n") { line += 1 }
                field.append(byte)
            }
            line = start
            throw failure("a quote is not closed, so the file was cut off")
        }

        private func failure(_ message: String) -> InputError {
            InputError(
                file: file, line: line, message: message, remedy: "restore the file, or remove the line with its sample"
            )
        }
    }
}

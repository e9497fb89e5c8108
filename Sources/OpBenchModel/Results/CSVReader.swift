/// The reading side of CSV (RFC 4180), record by record, from bytes that come in parts: memory is bounded by the
/// longest record. Implemented here because it must name line and column, refuse stray quotes and truncated files, and
/// keep spaces. SwiftCSV, which was tried, strips leading spaces of fields, loses an empty last field, and accepts an
/// unclosed quote at the end.
struct CSVReader {
    /// One record: the bytes of all fields in sequence, and the end of each.
    struct Record {
        /// The line where it begins, from 1.
        fileprivate(set) var line = 1
        fileprivate(set) var bytes: [UInt8] = []
        fileprivate(set) var ends: [Int] = []

        var count: Int { ends.count }

        func field(_ index: Int) -> ArraySlice<UInt8> { bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]] }
    }

    static let fieldLimit = 1 << 16
    static let columnLimit = 1000

    private let file: String
    private var part: [UInt8] = []
    private var position = 0
    /// The number of bytes before this part.
    private var offset = 0
    private var line = 1
    private(set) var record = Record()
    /// Whether the thrown failure is a text that ends within a record, as a killed writer leaves it.
    private(set) var isTorn = false

    init(file: String) { self.file = file }

    /// The number of bytes in complete records so far.
    var byteCount: Int { offset + position }

    /// Reads the next record.
    ///
    /// - Parameter next: returns the next part of the text, empty at its end.
    /// - Returns: false at the end of the text.
    /// - Throws: `InputError` for invalid CSV, and errors of `next`.
    mutating func read(_ next: () throws(InputError) -> [UInt8]) throws(InputError) -> Bool {
        guard try peek(next) != nil else { return false }
        record.line = line
        record.bytes.removeAll(keepingCapacity: true)
        record.ends.removeAll(keepingCapacity: true)
        while true {
            let start = record.bytes.count
            if try peek(next) == UInt8(ascii: "\"") { try quotedField(next) } else { try plainField(next) }
            guard record.bytes.count - start <= Self.fieldLimit else {
                throw failure("a field longer than \(Self.fieldLimit >> 10) KiB")
            }
            record.ends.append(record.bytes.count)
            guard record.count <= Self.columnLimit else { throw failure("more than \(Self.columnLimit) fields") }
            guard try peek(next) == UInt8(ascii: ",") else { return try endOfLine(next) }
            position += 1
        }
    }

    /// The next byte, fetched if necessary; nil at the end of the text.
    private mutating func peek(_ next: () throws(InputError) -> [UInt8]) throws(InputError) -> UInt8? {
        if position == part.count {
            offset += part.count
            position = 0
            part = try next()
        }
        return position < part.count ? part[position] : nil
    }

    private mutating func endOfLine(_ next: () throws(InputError) -> [UInt8]) throws(InputError) -> Bool {
        let torn = "the last line has no end: the file is truncated"
        if try peek(next) == UInt8(ascii: "\r") {
            position += 1
            guard let byte = try peek(next) else { throw failure(torn, isTorn: true) }
            guard byte == UInt8(ascii: "\n") else { throw failure("a carriage return without a line feed") }
        }
        guard let byte = try peek(next) else { throw failure(torn, isTorn: true) }
        guard byte == UInt8(ascii: "\n") else { throw failure("text after a closing quote") }
        position += 1
        line += 1
        return true
    }

    private mutating func plainField(_ next: () throws(InputError) -> [UInt8]) throws(InputError) {
        let limit = record.bytes.count + Self.fieldLimit
        while try peek(next) != nil, record.bytes.count <= limit {
            let start = position
            while position < part.count, !Self.endsPlainField(part[position]) { position += 1 }
            record.bytes += part[start..<position]
            guard position < part.count else { continue }
            if part[position] == UInt8(ascii: "\"") {
                throw failure("a quote inside an unquoted field")
            }
            return
        }
    }

    private static func endsPlainField(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\"")
    }

    private mutating func quotedField(_ next: () throws(InputError) -> [UInt8]) throws(InputError) {
        let (start, limit) = (line, record.bytes.count + Self.fieldLimit)
        position += 1
        while let byte = try peek(next), record.bytes.count <= limit {
            position += 1
            if byte == UInt8(ascii: "\"") {
                guard try peek(next) == UInt8(ascii: "\"") else { return }
                position += 1
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            record.bytes.append(byte)
        }
        guard record.bytes.count <= limit else { return }
        line = start
        throw failure("a quote is not closed: the file is truncated", isTorn: true)
    }

    private mutating func failure(_ message: String, isTorn: Bool = false) -> InputError {
        self.isTorn = isTorn
        return InputError(
            file: file, line: line, message: message, remedy: "restore the file, or remove the line with its sample")
    }
}

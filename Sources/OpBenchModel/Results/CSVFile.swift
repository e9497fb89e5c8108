/// Writes and reads a run's CSV files: RFC 4180 quoting, UTF-8, a header, and lines that end in LF (the reader accepts
/// CRLF too). Row types declare their columns; `param_<name>` columns are the sorted union over the run.
public enum CSVFile {
    static let parameterPrefix = "param_"

    // MARK: Writing

    /// The header with its line end.
    ///
    /// - Parameter parameters: the names of the run's parameters; sorted here.
    public static func header<Row: CSVRow>(of _: Row.Type, parameters: [String] = []) -> String {
        CSVText.line(Row.columns + parameterColumns(Row.self, parameters))
    }

    /// One row with its line end, for the header with the same `parameters`.
    public static func line<Row: CSVRow>(of row: Row, parameters: [String] = []) -> String {
        let names = Row.hasParameters ? parameters.sorted() : []
        let values = names.map { row.parameters[$0] ?? "" }
        guard Row.isExport else { return CSVText.line(Row.columnList.map { $0.write(row) } + values) }
        let fields = Row.columnList.map { $0.isNumber ? $0.write(row) : CSVText.exported($0.write(row)) }
        return CSVText.line(fields + values.map { FigureText.read($0) == nil ? CSVText.exported($0) : $0 })
    }

    /// A whole file. Without `parameters`, they are taken from the rows.
    public static func text<Row: CSVRow>(of rows: [Row], parameters: [String]? = nil) -> String {
        let names = parameters ?? parameterNames(of: rows)
        return rows.reduce(into: header(of: Row.self, parameters: names)) { $0 += line(of: $1, parameters: names) }
    }

    /// The sorted union of the rows' parameters.
    public static func parameterNames<Row: CSVRow>(of rows: [Row]) -> [String] {
        rows.reduce(into: Set<String>()) { $0.formUnion($1.parameters.keys) }.sorted()
    }

    private static func parameterColumns<Row: CSVRow>(_: Row.Type, _ parameters: [String]) -> [String] {
        let names = Row.hasParameters ? parameters.sorted().map { parameterPrefix + $0 } : []
        return Row.isExport ? names.map(CSVText.exported) : names
    }

    // MARK: Reading

    /// The longest field of a row, in bytes.
    package static let fieldLimit = CSVReader.fieldLimit

    /// The limits of a file in bytes and in rows: about 1.5 GB of memory.
    package static let sizeLimit = 1 << 30
    package static let rowLimit = 4_000_000

    /// Reads a whole file.
    ///
    /// - Throws: `InputError` with line and column for an unreadable file, another kind of file, another version, an
    ///   invalid field, or a truncated file (its last line has no end).
    public static func read<Row: CSVRow>(_ type: Row.Type, file: String) throws(InputError) -> [Row] {
        var rows: [Row] = []
        try each(type, of: file) { row, _ in rows.append(row) }
        return rows
    }

    /// Reads the complete lines of a file whose writer may have been killed within a line, and returns their size in
    /// bytes, where writing can continue.
    public static func readWholeLines<Row: CSVRow>(
        _ type: Row.Type, file: String
    ) throws(InputError) -> (rows: [Row], byteCount: Int) {
        var rows: [Row] = []
        let ends = try each(type, of: file, isTornAllowed: true) { row, _ in rows.append(row) }
        return (rows, ends.lines)
    }

    /// Reads a file row by row.
    ///
    /// - Parameters:
    ///   - isTornAllowed: whether an incomplete last line is skipped.
    ///   - body: receives a row, and the offset of its end in the file.
    /// - Returns: the sizes of the header and of all complete lines, in bytes.
    @discardableResult
    public static func each<Row: CSVRow>(
        _ type: Row.Type, of file: String, isTornAllowed: Bool = false, _ body: (Row, Int) -> Void
    ) throws(InputError) -> (header: Int, lines: Int) {
        let source = try ReadFile(file, limit: sizeLimit)
        return try each(type, file: file, isTornAllowed: isTornAllowed, next: source.next, body)
    }

    static func rows<Row: CSVRow>(_ type: Row.Type, text: String, file: String) throws(InputError) -> [Row] {
        var rest = Array(text.utf8)
        var rows: [Row] = []
        func next() throws(InputError) -> [UInt8] {
            defer { rest = [] }
            return rest
        }
        _ = try each(type, file: file, next: next) { row, _ in rows.append(row) }
        return rows
    }

    /// - Parameter next: returns the next part of the file, empty at its end.
    static func each<Row: CSVRow>(
        _: Row.Type, file: String, isTornAllowed: Bool = false, next: () throws(InputError) -> [UInt8],
        _ body: (Row, Int) -> Void
    ) throws(InputError) -> (header: Int, lines: Int) {
        var reader = CSVReader(file: file)
        var decoder = RowDecoder<Row>(file: file)
        var ends = (header: 0, lines: 0)
        var count = 0
        do throws(InputError) {
            while try reader.read(next) {
                if let row = try decoder.row(from: reader.record) {
                    count += 1
                    guard count <= rowLimit else { throw tooMany(file, reader.record.line) }
                    body(row, reader.byteCount)
                } else {
                    ends.header = reader.byteCount
                }
                ends.lines = reader.byteCount
            }
        } catch {
            guard isTornAllowed, reader.isTorn else { throw error }
        }
        try decoder.finish()
        guard ends.header > 0 else {
            throw InputError(file: file, message: "the file is empty", remedy: "name a \(Row.fileName) of a run")
        }
        return ends
    }

    private static func tooMany(_ file: String, _ line: Int) -> InputError {
        InputError(
            file: file, line: line, message: "more than \(rowLimit) rows", remedy: "measure fewer cells in one run")
    }
}

/// The writing side of CSV (RFC 4180), byte by byte: a quote or a line end counts even if combining scalars follow it.
enum CSVText {
    static func line(_ fields: [String]) -> String {
        var bytes: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(field, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ field: String, to bytes: inout [UInt8]) {
        let special = field.utf8.contains { byte in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
                || byte == UInt8(ascii: "\r")
        }
        guard special else {
            bytes += field.utf8
            return
        }
        bytes.append(UInt8(ascii: "\""))
        for byte in field.utf8 {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A text field of a file that people open in a spreadsheet: on one line, and escaped if a spreadsheet would
    /// compute it as a formula.
    static func exported(_ field: String) -> String {
        let text = TerminalText.escaped(field)
        guard let first = text.unicodeScalars.first, formulaStarts.contains(first) else { return text }
        return "'" + text
    }

    /// Includes the wide forms that spreadsheets in East Asia accept.
    private static let formulaStarts = Set("=+-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars)
}

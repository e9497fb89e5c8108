/// Writes and reads a run's CSV files: RFC 4180 quoting, UTF-8, a header, and lines that end in LF (the reader takes
/// CRLF as well). Row types declare their columns; `param.<name>` columns are the sorted union over the run.
public enum CSVFile {
    /// Rises with every change of the fixed columns or of what they mean.
    public static let schemaVersion = "1"

    static let parameterPrefix = "param."

    // MARK: Writing

    /// The header with its line end.
    ///
    /// - Parameter parameters: the names of the run's parameters; sorted here.
    public static func header<Row: CSVRow>(of _: Row.Type, parameters: [String] = []) -> String {
        CSVText.line(Row.columns + parameterColumns(Row.self, parameters))
    }

    /// One row with its line end, under the header that the same `parameters` give.
    public static func line<Row: CSVRow>(of row: Row, parameters: [String] = []) -> String {
        let names = Row.hasParameters ? parameters.sorted() : []
        return CSVText.line(Row.columnList.map { $0.write(row) } + names.map { row.parameters[$0] ?? "" })
    }

    /// A whole file. Without `parameters`, the names are those of the rows.
    public static func text<Row: CSVRow>(of rows: [Row], parameters: [String]? = nil) -> String {
        let names = parameters ?? parameterNames(of: rows)
        return rows.reduce(into: header(of: Row.self, parameters: names)) { $0 += line(of: $1, parameters: names) }
    }

    /// The sorted union of the rows' parameters.
    public static func parameterNames<Row: CSVRow>(of rows: [Row]) -> [String] {
        rows.reduce(into: Set<String>()) { $0.formUnion($1.parameters.keys) }.sorted()
    }

    private static func parameterColumns<Row: CSVRow>(_: Row.Type, _ parameters: [String]) -> [String] {
        Row.hasParameters ? parameters.sorted().map { parameterPrefix + $0 } : []
    }

    // MARK: Reading

    /// Reads a whole file.
    ///
    /// - Throws: `InputError` with line and column for an unreadable file, another kind of file, another version, a
    ///   field that does not fit, and a file that was cut off (its last line is not ended).
    public static func read<Row: CSVRow>(_ type: Row.Type, file: String) throws(InputError) -> [Row] {
        try rows(type, text: try TextFile.read(file, limit: sizeLimit), file: file)
    }

    /// Reads the whole lines of a file whose writer may have been killed amid a line, and says how many bytes they
    /// take, so that writing can go on from there.
    public static func readWholeLines<Row: CSVRow>(
        _ type: Row.Type, file: String
    ) throws(InputError) -> (rows: [Row], byteCount: Int) {
        let text = try TextFile.read(file, limit: sizeLimit)
        let whole = CSVText.wholeLines(of: text)
        return (try rows(type, text: whole, file: file), whole.utf8.count)
    }

    private static let sizeLimit = 1 << 30

    static func rows<Row: CSVRow>(_: Row.Type, text: String, file: String) throws(InputError) -> [Row] {
        let records = try CSVText.records(of: text, file: file)
        guard let header = records.first else {
            throw InputError(file: file, message: "the file is empty", remedy: "name a \(Row.fileName) of a run")
        }
        let parameters = try parameterNames(in: header, as: Row.self, file: file)
        var rows: [Row] = []
        rows.reserveCapacity(records.count - 1)
        for record in records.dropFirst() {
            rows.append(try row(from: record, parameters: parameters, file: file))
        }
        return rows
    }

    /// Checks the header and returns the names behind its `param.` columns.
    private static func parameterNames<Row: CSVRow>(
        in header: CSVText.Record, as _: Row.Type, file: String
    ) throws(InputError) -> [String] {
        let expected = Row.columns
        for (index, name) in expected.enumerated() where index >= header.fields.count || header.fields[index] != name {
            let found = index < header.fields.count ? JSONText.excerpt(header.fields[index]) : "nothing"
            throw InputError(
                file: file, line: header.line, path: "column \(index + 1)",
                message: "\(found) stands where \"\(name)\" belongs",
                remedy: "this is no \(Row.fileName) of schema version \(schemaVersion); name one that opbench wrote")
        }
        let names = header.fields.dropFirst(expected.count).map(\.self)
        let isOrdered = zip(names, names.dropFirst()).allSatisfy { $0 < $1 }
        guard names.isEmpty || Row.hasParameters, isOrdered, names.allSatisfy({ $0.hasPrefix(parameterPrefix) }) else {
            throw InputError(
                file: file, line: header.line, path: "column \(expected.count + 1)",
                message: "unknown columns follow the fixed ones",
                remedy: "only param.<name> columns may, each once, in alphabetical order")
        }
        return names.map { String($0.dropFirst(parameterPrefix.count)) }
    }

    private static func row<Row: CSVRow>(
        from record: CSVText.Record, parameters: [String], file: String
    ) throws(InputError) -> Row {
        let columns = Row.columnList
        guard record.fields.count == columns.count + parameters.count else {
            throw InputError(
                file: file, line: record.line,
                message: "\(record.fields.count) fields where the header has \(columns.count + parameters.count)",
                remedy: "the line is cut off or foreign; remove it or restore the file")
        }
        var row = Row.blank
        for (column, field) in zip(columns, record.fields) {
            if let expected = column.read(&row, field) {
                throw InputError(
                    file: file, line: record.line, path: "column \(column.name)",
                    message: "\(JSONText.excerpt(field)) is not what belongs here", remedy: "expected is \(expected)")
            }
        }
        for (name, field) in zip(parameters, record.fields.dropFirst(columns.count)) where !field.isEmpty {
            row.parameters[name] = field
        }
        return row
    }
}

/// Decodes the records of one CSV file, of which the first is the header.
///
/// Most fields equal those of the row before; such a field shares its string and takes no memory.
struct RowDecoder<Row: CSVRow> {
    private let file: String
    private let columns = Row.columnList
    /// The names of the parameter columns; nil before the header.
    private var parameters: [String]?
    /// The header's error, reported unless the first row has another version.
    private var wrongHeader: InputError?
    /// Whether the first column is the version.
    private var isVersioned = false
    private var previous = CSVReader.Record()
    private var texts: [String] = []
    private var values: [String: String] = [:]

    init(file: String) { self.file = file }

    /// The row of a record; nil for the header, which is checked.
    mutating func row(from record: CSVReader.Record) throws(InputError) -> Row? {
        let isHeader = parameters == nil
        if isHeader { parameters = [] } else if wrongHeader == nil { try checkCount(record) }
        let changed = try takeTexts(of: record)
        if isHeader {
            try takeHeader(record)
            texts.removeAll()
            return nil
        }
        previous = record
        try checkVersion(record.line)
        var row = Row.blank
        // By index: pairs of an index and a column would use unspecialised code, at three times the cost.
        for index in columns.indices {
            let column = columns[index]
            if let expected = column.read(&row, texts[index]) {
                throw InputError(
                    file: file, line: record.line, path: "column \(column.name)",
                    message: "\(JSONText.excerpt(texts[index])) is not a valid value here",
                    remedy: "expected: \(expected)")
            }
        }
        if let changed, changed >= columns.count {
            let fields = zip(parameters ?? [], texts.dropFirst(columns.count)).filter { !$1.isEmpty }
            values = Dictionary(fields) { $1 }
        }
        if Row.hasParameters { row.parameters = values }
        return row
    }

    /// To be called after the last record.
    ///
    /// - Throws: the header's error, if the file has no rows.
    func finish() throws(InputError) {
        if let wrongHeader { throw wrongHeader }
    }

    /// Refuses a row of another version as such; if the header is wrong, only a field that can be a version.
    private func checkVersion(_ line: Int) throws(InputError) {
        if isVersioned, let text = texts.first, wrongHeader == nil || Int(text) != nil {
            try SchemaVersion.check(
                text, file: file, line: line, path: "column \(CSVColumn<Row>.schemaVersionName)")
        }
        try finish()
    }

    private func checkCount(_ record: CSVReader.Record) throws(InputError) {
        let expected = columns.count + (parameters?.count ?? 0)
        guard record.count == expected else {
            throw InputError(
                file: file, line: record.line,
                message: "\(counted(record.count, "field")) where the header has \(expected)",
                remedy: "the line is truncated or foreign; remove it or restore the file")
        }
    }

    /// Makes strings of the fields that differ from the previous record.
    ///
    /// - Returns: the index of the last field that differs.
    private mutating func takeTexts(of record: CSVReader.Record) throws(InputError) -> Int? {
        var changed: Int?
        for index in 0..<record.count {
            let field = record.field(index)
            if index < texts.count, index < previous.count, field == previous.field(index) { continue }
            changed = index
            guard let text = String(validating: field, as: UTF8.self) else {
                throw InputError(
                    file: file, line: record.line, message: "not UTF-8", remedy: "save the file as UTF-8")
            }
            guard StreamSafeText.holds(text) else {
                throw InputError(
                    file: file, line: record.line, message: StreamSafeText.problem,
                    remedy: "opbench did not write this \(Row.fileName)")
            }
            if index < texts.count { texts[index] = text } else { texts.append(text) }
        }
        return changed
    }

    // MARK: The header

    /// Keeps the header's error: the first row's version may explain it.
    private mutating func takeHeader(_ header: CSVReader.Record) throws(InputError) {
        let fields = Array(texts.prefix(header.count))
        isVersioned = fields.first == CSVColumn<Row>.schemaVersionName
        do throws(InputError) {
            parameters = try parameterNames(fields, line: header.line)
        } catch {
            guard isVersioned else { throw error }
            wrongHeader = error
        }
    }

    /// Checks the header and returns the names of its parameter columns.
    private func parameterNames(_ fields: [String], line: Int) throws(InputError) -> [String] {
        for (index, column) in columns.enumerated()
        where index >= fields.count || !fields[index].utf8.elementsEqual(column.name.utf8) {
            let found = index < fields.count ? JSONText.excerpt(fields[index]) : "nothing"
            throw InputError(
                file: file, line: line, path: "column \(index + 1)",
                message: "found \(found) where \"\(column.name)\" is expected",
                remedy: "name a \(Row.fileName) that opbench wrote")
        }
        let names = fields.dropFirst(columns.count)
        let isOrdered = zip(names, names.dropFirst()).allSatisfy { $0 < $1 }
        let prefix = CSVFile.parameterPrefix
        // Names are in the form that `isExport` writes, so rows can be written back in the same order.
        let isWritten = names.allSatisfy { $0.utf8.starts(with: prefix.utf8) && CSVText.exported($0) == $0 }
        guard names.isEmpty || Row.hasParameters, isOrdered, isWritten else {
            throw InputError(
                file: file, line: line, path: "column \(columns.count + 1)",
                message: "unknown columns follow the fixed ones",
                remedy: "only \(prefix)<name> columns may follow, each once, in alphabetical order")
        }
        return names.map { String(decoding: $0.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) }
    }
}

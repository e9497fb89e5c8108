/// Turns the records of one CSV file into rows: the first one is the header.
///
/// Most fields are as in the row before; such a field is not made anew, and takes no memory of its own.
struct RowDecoder<Row: CSVRow> {
    private let file: String
    private let columns = Row.columnList
    /// Behind the `param.` columns; nil before the header.
    private var parameters: [String]?
    private var previous = CSVReader.Record()
    private var texts: [String] = []
    private var values: [String: String] = [:]

    init(file: String) { self.file = file }

    /// The row of a record; nil for the header, which is checked.
    mutating func row(from record: CSVReader.Record) throws(InputError) -> Row? {
        let isHeader = parameters == nil
        if isHeader { parameters = [] } else { try checkCount(record) }
        let changed = try takeTexts(of: record)
        if isHeader {
            parameters = try parameterNames(record)
            texts.removeAll()
            return nil
        }
        previous = record
        var row = Row.blank
        for (index, column) in columns.enumerated() {
            if let expected = column.read(&row, texts[index]) {
                throw InputError(
                    file: file, line: record.line, path: "column \(column.name)",
                    message: "\(JSONText.excerpt(texts[index])) is not a valid value here",
                    remedy: "expected is \(expected)")
            }
        }
        if let changed, changed >= columns.count {
            let fields = zip(parameters ?? [], texts.dropFirst(columns.count)).filter { !$1.isEmpty }
            values = Dictionary(fields) { $1 }
        }
        if Row.hasParameters { row.parameters = values }
        return row
    }

    private func checkCount(_ record: CSVReader.Record) throws(InputError) {
        let expected = columns.count + (parameters?.count ?? 0)
        guard record.count == expected else {
            throw InputError(
                file: file, line: record.line, message: "\(record.count) fields where the header has \(expected)",
                remedy: "the line is cut off or foreign; remove it or restore the file")
        }
    }

    /// Makes strings of the fields that differ from the record before.
    ///
    /// - Returns: the last one that does.
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
                    remedy: "this is no \(Row.fileName) that opbench wrote")
            }
            if index < texts.count { texts[index] = text } else { texts.append(text) }
        }
        return changed
    }

    /// Checks the header and returns the names behind its `param.` columns.
    private func parameterNames(_ header: CSVReader.Record) throws(InputError) -> [String] {
        let (expected, fields) = (Row.columns, texts.prefix(header.count))
        for (index, name) in expected.enumerated()
        where index >= fields.count || !fields[index].utf8.elementsEqual(name.utf8) {
            let found = index < fields.count ? JSONText.excerpt(fields[index]) : "nothing"
            throw InputError(
                file: file, line: header.line, path: "column \(index + 1)",
                message: "\(found) stands where \"\(name)\" belongs",
                remedy: "this is no \(Row.fileName) of schema version \(CSVFile.schemaVersion); "
                    + "name one that opbench wrote")
        }
        let names = fields.dropFirst(expected.count)
        let isOrdered = zip(names, names.dropFirst()).allSatisfy { $0 < $1 }
        let prefix = CSVFile.parameterPrefix.utf8
        guard names.isEmpty || Row.hasParameters, isOrdered, names.allSatisfy({ $0.utf8.starts(with: prefix) }) else {
            throw InputError(
                file: file, line: header.line, path: "column \(expected.count + 1)",
                message: "unknown columns follow the fixed ones",
                remedy: "only param.<name> columns may, each once, in alphabetical order")
        }
        return names.map { String(decoding: $0.utf8.dropFirst(prefix.count), as: UTF8.self) }
    }
}

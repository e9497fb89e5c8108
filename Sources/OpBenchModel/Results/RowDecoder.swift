/// Turns the records of one CSV file into rows: the first one is the header.
///
/// Most fields are as in the row before; such a field is not made anew, and takes no memory of its own.
struct RowDecoder<Row: CSVRow> {
    private let file: String
    /// Those of the version that the header is of.
    private var version = SchemaVersion.current
    private var columns: [CSVColumn<Row>] = []
    /// Behind the columns of parameters; nil before the header.
    private var parameters: [String]?
    /// What is wrong with the header, unless the first row is of a version that is not known.
    private var wrongHeader: InputError?
    /// Whether the first column is the version.
    private var isVersioned = false
    /// Whether a row has told the version, where the columns leave several.
    private var isCertain = false
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
        // By index: pairs of an index and a column would be made by code that is not specialised, at a third of the time.
        for index in columns.indices {
            let column = columns[index]
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
        if version < .current { row.convert(from: version) }
        return row
    }

    /// To be called behind the last record.
    ///
    /// - Throws: what is wrong with the header of a file without rows.
    func finish() throws(InputError) {
        if let wrongHeader { throw wrongHeader }
    }

    /// A row of a newer version is refused as such, whatever the header is.
    private mutating func checkVersion(_ line: Int) throws(InputError) {
        if !isCertain { takeVersion(texts.first) }
        if isVersioned, let text = texts.first, text != String(version.rawValue) {
            let path = "column \(CSVColumn<Row>.schemaVersionName)"
            if SchemaVersion.isNewer(text) {
                throw SchemaVersion.refusal(of: text, file: file, line: line, path: path)
            }
            if wrongHeader == nil {
                throw InputError(
                    file: file, line: line, path: path, message: "\(JSONText.excerpt(text)) is not a valid value here",
                    remedy: "expected is \"\(version.rawValue)\", by the names of the columns")
            }
        }
        try finish()
    }

    /// Takes the version that the first row names, if its columns have the same names: not every version changes every file.
    private mutating func takeVersion(_ text: String?) {
        isCertain = true
        guard isVersioned, wrongHeader == nil, let text, let named = Int(text).flatMap(SchemaVersion.init(rawValue:)),
            named.parameterPrefix == version.parameterPrefix
        else { return }
        let others = Row.columns(of: named)
        if others.map(\.name) == columns.map(\.name) { (version, columns) = (named, others) }
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

    // MARK: The header

    /// Finds the version whose columns the header has. What is wrong with one that is of none is told by the version
    /// that it comes nearest to; but a first row of a newer version tells more.
    private mutating func takeHeader(_ header: CSVReader.Record) throws(InputError) {
        let fields = Array(texts.prefix(header.count))
        let nearest = SchemaVersion.allCases.map { version in
            let agreeing = Self.agreeing(fields, version)
            let isWhole = agreeing == Row.columns(of: version).count
            return (place: (isWhole ? 1 : 0, agreeing, version), version: version)
        }.max { $0.place < $1.place }!.version
        (version, columns) = (nearest, Self.columns(of: nearest, in: fields))
        isVersioned = fields.first == CSVColumn<Row>.schemaVersionName
        do throws(InputError) {
            parameters = try parameterNames(fields, line: header.line)
        } catch {
            guard isVersioned else { throw error }
            wrongHeader = error
        }
    }

    /// The columns of a version, without those that a file of the current one may be without, and is.
    private static func columns(of version: SchemaVersion, in fields: [String]) -> [CSVColumn<Row>] {
        let columns = Row.columns(of: version)
        let first = columns.count - Row.addedColumns
        guard version == .current, Row.addedColumns > 0, fields.count >= first else { return columns }
        let isWithout = fields.count == first || fields[first].hasPrefix(version.parameterPrefix)
        return isWithout ? Array(columns.prefix(first)) : columns
    }

    /// How many names, from the first on, are those of a version's columns.
    private static func agreeing(_ fields: [String], _ version: SchemaVersion) -> Int {
        zip(fields, Row.columns(of: version)).prefix { $0.utf8.elementsEqual($1.name.utf8) }.reduce(0) { sum, _ in
            sum + 1
        }
    }

    /// Checks the header and returns the names behind its columns of parameters.
    private func parameterNames(_ fields: [String], line: Int) throws(InputError) -> [String] {
        for (index, column) in columns.enumerated()
        where index >= fields.count || !fields[index].utf8.elementsEqual(column.name.utf8) {
            let found = index < fields.count ? JSONText.excerpt(fields[index]) : "nothing"
            throw InputError(
                file: file, line: line, path: "column \(index + 1)",
                message: "\(found) stands where \"\(column.name)\" belongs",
                remedy: "this is no \(Row.fileName) of schema version \(version.rawValue); "
                    + "name one that opbench wrote")
        }
        let names = fields.dropFirst(columns.count)
        let isOrdered = zip(names, names.dropFirst()).allSatisfy { $0 < $1 }
        let prefix = version.parameterPrefix
        // As `isExport` writes names, so that what is read can be written in the same order.
        let isWritten = names.allSatisfy { $0.utf8.starts(with: prefix.utf8) && CSVText.exported($0) == $0 }
        guard names.isEmpty || Row.hasParameters, isOrdered, isWritten else {
            throw InputError(
                file: file, line: line, path: "column \(columns.count + 1)",
                message: "unknown columns follow the fixed ones",
                remedy: "only \(prefix)<name> columns may, each once, in alphabetical order")
        }
        return names.map { String(decoding: $0.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) }
    }
}

/// One column of a CSV file: how a row writes it and how it is read back. Reader and writer use the same list of
/// columns, so they cannot differ.
public struct CSVColumn<Row: Sendable>: Sendable {
    public let name: String
    /// Whether the column holds numbers. They are always written as they are: no spreadsheet takes one for a formula.
    var isNumber = false
    let write: @Sendable (Row) -> String
    /// Stores the text in the row. Returns the expected form if the text does not fit.
    let read: @Sendable (inout Row, String) -> String?
}

/// A row of one of a run's CSV files.
public protocol CSVRow: Sendable {
    /// The file's name in a run's folder.
    static var fileName: String { get }
    static var columnList: [CSVColumn<Self>] { get }
    /// Whether `param_` columns follow, one for every parameter in the run.
    static var hasParameters: Bool { get }
    /// Whether the file is meant to be opened in other programs: its text fields are written with `CSVText.exported`.
    /// Other files are read back exactly.
    static var isExport: Bool { get }
    /// The row that the reader fills in.
    static var blank: Self { get }
    /// The parameters by name, as text; empty text if the row's shape has no such parameter.
    var parameters: [String: String] { get set }
}

extension CSVRow {
    /// The names of the fixed columns, in order; `param_<name>` columns follow them.
    public static var columns: [String] { columnList.map(\.name) }

    public static var isExport: Bool { false }

    /// No parameters, unless a row stores them.
    public var parameters: [String: String] {
        get { [:] }
        set {}
    }
}

// MARK: - Columns by the type of the property

extension CSVColumn {
    init(_ name: String, _ property: WritableKeyPath<Row, String> & Sendable) {
        self.init(
            name: name, write: { $0[keyPath: property] },
            read: { row, text in
                row[keyPath: property] = text
                return nil
            })
    }

    init(_ name: String, _ property: WritableKeyPath<Row, Int> & Sendable) {
        self.init(
            name: name, isNumber: true, write: { String($0[keyPath: property]) },
            read: { row, text in
                guard let value = Int(text), value >= 0 else { return "a whole number from 0" }
                row[keyPath: property] = value
                return nil
            })
    }

    init(_ name: String, _ property: WritableKeyPath<Row, Int?> & Sendable) {
        self.init(
            name: name, isNumber: true, write: { $0[keyPath: property].map(String.init) ?? "" },
            read: { row, text in
                let value = Int(text)
                row[keyPath: property] = value
                return text.isEmpty || value.map { $0 >= 0 } == true ? nil : "a whole number from 0, or nothing"
            })
    }

    /// An absent figure is empty, never 0; so is an infinite one or NaN.
    init(_ name: String, _ property: WritableKeyPath<Row, Double?> & Sendable) {
        self.init(figure: name, get: { $0[keyPath: property] }, set: { $0[keyPath: property] = $1 })
    }

    init(
        figure name: String, get: @escaping @Sendable (Row) -> Double?,
        set: @escaping @Sendable (inout Row, Double?) -> Void
    ) {
        self.init(
            name: name, isNumber: true,
            write: { row in get(row).flatMap { $0.isFinite ? FigureText.write($0) : nil } ?? "" },
            read: { row, text in
                let figure = FigureText.read(text)
                set(&row, figure)
                return text.isEmpty || figure != nil ? nil : "a finite number or nothing"
            })
    }

    /// A value of an enumeration, or a name such as a backend.
    init<Value: RawRepresentable<String> & SendableMetatype>(
        _ name: String, _ property: WritableKeyPath<Row, Value> & Sendable
    ) {
        self.init(
            name: name, write: { $0[keyPath: property].rawValue },
            read: { row, text in
                guard let value = Value(rawValue: text) else { return "a known \(name)" }
                row[keyPath: property] = value
                return nil
            })
    }

    init<Value: RawRepresentable<String> & SendableMetatype>(
        optional name: String, _ property: WritableKeyPath<Row, Value?> & Sendable
    ) {
        self.init(
            name: name, write: { $0[keyPath: property]?.rawValue ?? "" },
            read: { row, text in
                row[keyPath: property] = text.isEmpty ? nil : Value(rawValue: text)
                return text.isEmpty || row[keyPath: property] != nil ? nil : "a known \(name) or nothing"
            })
    }

    /// A column derived from the others: written from the row, and compared with it on reading.
    init(derived name: String, _ write: @escaping @Sendable (Row) -> String) {
        self.init(
            name: name, write: write,
            read: { row, text in
                let expected = write(row)
                return text == expected ? nil : "\"\(expected)\""
            })
    }

    /// The version of the columns and their meaning, compared with the reader's.
    static var schemaVersion: CSVColumn {
        CSVColumn(name: schemaVersionName, write: { _ in SchemaVersion.current }, read: { _, _ in nil })
    }

    static var schemaVersionName: String { "schema_version" }

    /// The flags of samples, joined by `;`.
    static func flags(_ property: WritableKeyPath<Row, [SampleFlag]> & Sendable) -> CSVColumn {
        CSVColumn(
            name: "sample_flags", write: { $0[keyPath: property].map(\.rawValue).joined(separator: ";") },
            read: { row, text in
                let names = text.split(separator: ";")
                let flags = names.compactMap { SampleFlag(rawValue: String($0)) }
                row[keyPath: property] = flags
                return flags.count == names.count ? nil : SampleFlag.allCases.map(\.rawValue).joined(separator: ";")
            })
    }

    /// Whole numbers separated by spaces: a list takes fewer bytes than as many rows.
    init(_ name: String, list property: WritableKeyPath<Row, [Int64]> & Sendable) {
        self.init(
            name: name, write: { $0[keyPath: property].map(String.init).joined(separator: " ") },
            read: { row, text in
                row[keyPath: property] = []
                for word in text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
                where !text.isEmpty {
                    guard let number = Int64(Substring(word)) else { return "whole numbers, a space between two" }
                    row[keyPath: property].append(number)
                }
                return nil
            })
    }

    /// The column with a condition on the columns read so far; it returns the expected form if it fails.
    func expecting(_ condition: @escaping @Sendable (Row) -> String?) -> CSVColumn {
        CSVColumn(name: name, isNumber: isNumber, write: write) { row, text in read(&row, text) ?? condition(row) }
    }
}

/// A figure as text and back without loss: the shortest decimals that read as the same Double, with `.` as the point
/// and without a trailing `.0`.
public enum FigureText {
    public static func write(_ figure: Double) -> String {
        let text = figure.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Nil for anything but a finite decimal number, and for one so near to 0 that it would be read as 0.
    static func read(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) || "+-.eE".utf8.contains($0) }) else { return nil }
        guard let figure = Double(text), figure.isFinite else { return nil }
        let hasDigits = text.utf8.prefix { !"eE".utf8.contains($0) }.contains { (49...57).contains($0) }
        return figure == 0 && hasDigits ? nil : figure
    }
}

/// The version of a run's files: their columns and units. `run.json` and every CSV file name it as `schema_version`.
/// Files of another version are refused.
public enum SchemaVersion {
    public static let current = "1"

    /// - Throws: `InputError` for a file of another version.
    public static func check(_ text: String, file: String, line: Int? = nil, path: String) throws(InputError) {
        guard text != current else { return }
        throw InputError(
            file: file, line: line, path: path,
            message: "\(JSONText.excerpt(text)) is another version; this opbench reads \(current)",
            remedy: "read the file with the version of opbench that wrote it")
    }
}

import OpBenchModel
import TextTable

/// TextTable's simple style with two spaces between columns, since figures have one between number and unit.
enum WideColumns: TextTableStyle {
    private static let gap = "  "

    static func prepare(_ text: String, for column: Column) -> String { Simple.prepare(text, for: column) }

    static func escape(_ text: String) -> String { text }

    static func begin(_ table: inout String, index: Int, columns: [Column]) {}

    static func end(_ table: inout String, index: Int, columns: [Column]) {}

    static func header(_ table: inout String, index: Int, columns: [Column]) {
        table += columns.map { $0.headerString(for: self) }.joined(separator: gap) + "\n"
        table += columns.map { $0.repeated("-") }.joined(separator: gap) + "\n"
    }

    static func row(_ table: inout String, index: Int, columns: [Column]) {
        table += columns.map { $0.string(for: self) }.joined(separator: gap) + "\n"
    }
}

extension Column {
    /// A field of a printed table, on one line and without control sequences, whatever a file's fields hold.
    init(title: String, field: String, align: Alignment = .left) {
        self.init(
            title: title, value: TerminalText.escaped(field, limit: TerminalText.fieldLimit), align: align)
    }
}

/// A printed table, without blanks at the ends of its lines.
enum PrintedTable {
    static func text(of lines: [[Column]]) -> String {
        let table = TextTable<[Column]> { $0 }.string(for: lines, style: WideColumns.self) ?? ""
        return table.split(separator: "\n").map { line in
            line.dropLast(line.reversed().prefix { $0 == " " }.count) + "\n"
        }.joined()
    }
}

import OpBenchModel

/// The whole summary as tables, one per workload, with a row for each backend and class and all columns that have
/// figures.
struct SummaryTable {
    private let sections: [SummarySection]
    private let notes: SummaryNotes
    private let findings: [String]

    init(_ rows: [SummaryRow], _ context: SummaryContext) {
        sections = rows.byWorkload.map { SummarySection($0, context) }
        notes = SummaryNotes(rows: rows, context: context)
        findings = FindingSentences(rows, context, isBelowMarks: true).lines
    }

    /// For a terminal: headings name the cells. Lines are as long as they need to be.
    var text: String {
        let findings = findings.map { TerminalText.escaped($0, limit: TerminalText.messageLimit) + "\n" }
        return (notes.warning.map { $0 + "\n" } ?? "") + sections.map(\.text).joined(separator: "\n") + notes.text
            + (findings.isEmpty ? "" : "\n") + findings.joined()
    }

    var markdown: String {
        let entries = notes.entries.map { "- \(MarkdownText.cell($0.term)): \(MarkdownText.cell($0.meaning))\n" }
        let findings = findings.map { "- \(MarkdownText.cell($0))\n" }
        return (notes.warning.map { MarkdownText.cell($0) + "\n\n" } ?? "") + findings.joined()
            + (findings.isEmpty ? "" : "\n") + sections.map(\.markdown).joined(separator: "\n")
            + (entries.isEmpty ? "" : "\n") + entries.joined()
    }
}

/// One workload's rows, ready to be written.
private struct SummarySection {
    private let rows: [SummaryRow]
    private let cells: CellNames
    private let columns: [SummaryRow.Column]
    /// The common kind of all classes, such as `priority`; empty if they have none.
    private let classKind: String

    /// - Parameter rows: at least one row, all of one workload.
    init(_ rows: [SummaryRow], _ context: SummaryContext) {
        self.rows = rows
        cells = CellNames(rows.map { ($0.cellID, $0.parameters) })
        columns = SummaryRow.columns(SummaryColumns(rows, context)).filter { column in
            column.title == Figure.time.title
                || rows.contains { !["", Quantities.absent].contains(WrappedText.trimmed(column.text($0))) }
        }
        let kinds = Set(
            rows.map(\.operationClass).filter { !$0.isEmpty }.map { $0.contains("=") ? $0.classKind : "" })
        classKind = kinds.count == 1 ? String(kinds.first ?? "") : ""
    }

    var text: String {
        let kind = TerminalText.escaped(classKind, limit: TerminalText.fieldLimit)
        let length = classKind.isEmpty ? 0 : classKind.count + 1
        let name = SummaryRow.Column(kind.isEmpty ? "backend" : "backend, by \(kind)", isText: true) { row in
            row.operationClass.isEmpty ? row.backendSide.title : "  " + row.operationClass.dropFirst(length)
        }
        let table = Table([name] + columns, rows).layout(
            width: nil, heading: { cells.name(of: $0.cellID) },
            remark: { $0.status == .ok || !$0.operationClass.isEmpty ? "" : $0.status.rawValue })
        return TerminalText.escaped(cells.heading, limit: TerminalText.messageLimit) + "\n" + table.text
    }

    var markdown: String {
        let names: [SummaryRow.Column] = [
            .init("cell", isText: true) { [cells] in cells.name(of: $0.cellID) },
            .init("backend", isText: true) { $0.backendSide.title }, .init("class", isText: true) { $0.operationClass },
        ]
        let status = SummaryRow.Column("status", isText: true) { $0.status.rawValue }
        return "**\(MarkdownText.cell(cells.heading))**\n\n" + Table(names + columns + [status], rows).markdown()
    }
}

extension [SummaryRow] {
    /// The rows of each workload, in order of first appearance.
    var byWorkload: [[SummaryRow]] {
        let grouped = Dictionary(grouping: self, by: \.workload)
        return map(\.workload).uniqued().map { grouped[$0]! }
    }
}

extension Sequence {
    /// The first element with each key, in order of appearance.
    func uniqued<Key: Hashable>(by key: (Element) -> Key) -> [Element] {
        var seen: Set<Key> = []
        return filter { seen.insert(key($0)).inserted }
    }
}

extension Sequence where Element: Hashable {
    /// The elements without repetitions, in order of first appearance.
    func uniqued() -> [Element] { uniqued { $0 } }
}

extension String {
    /// The kind in the name of a class of operations: `thread_priority` of `thread_priority=0.25`.
    var classKind: Substring { prefix { $0 != "=" } }

    /// The value in that name.
    var classValue: Substring { drop { $0 != "=" }.dropFirst() }
}

import OpBenchModel

/// The whole summary as tables, one per workload: headings name the cells, and each backend and class has a row. Lines
/// are as long as they need to be.
enum SummaryTable {
    /// - Parameters:
    ///   - clockResolution: resolution of the clock that timed the rows, in nanoseconds.
    ///   - isQuick: whether the rows were measured with `--quick`.
    static func text(of rows: [SummaryRow], clockResolution: Double, isQuick: Bool = false) -> String {
        let sections = rows.byWorkload.map {
            SummarySection($0, clockResolution: clockResolution, isQuick: isQuick)
        }
        let notes = SummaryNotes(rows: rows, clockResolution: clockResolution, isQuick: isQuick)
        let warning = notes.warning.map { $0 + "\n" } ?? ""
        let findings = FindingSentences(rows, isQuick: isQuick).lines.map {
            TerminalText.escaped($0, limit: TerminalText.messageLimit) + "\n"
        }
        return warning + sections.map(\.text).joined(separator: "\n") + notes.text
            + (findings.isEmpty ? "" : "\n") + findings.joined()
    }
}

/// One workload's rows, ready for layout.
struct SummarySection {
    let cells: CellNames
    let columns: [SummaryColumn]
    let summaryRows: [SummaryRow]
    private let context: SummaryContext
    /// The common kind of all classes, such as `priority`; empty if they have none.
    private let classKind: String

    /// - Parameter rows: at least one row, all of one workload.
    init(_ rows: [SummaryRow], clockResolution: Double, isQuick: Bool) {
        let context = SummaryContext(rows, clockResolution: clockResolution, isQuick: isQuick)
        (summaryRows, self.context) = (rows, context)
        cells = CellNames(rows.map { .init(id: $0.cellID, parameters: $0.parameters) })
        columns = SummaryColumn.all(baseline: context.baseline).filter { column in
            column.isAlwaysShown || rows.contains { !["", Quantities.absent].contains(column.text($0, context)) }
        }
        let kinds = Set(
            rows.map(\.operationClass).filter { !$0.isEmpty }.map { $0.contains("=") ? $0.prefix { $0 != "=" } : "" })
        classKind = kinds.count == 1 ? String(kinds.first ?? "") : ""
    }

    /// The title, and a table with a line for each row.
    var text: String {
        let kind = TerminalText.escaped(classKind, limit: TerminalText.fieldLimit)
        let nameTitle = kind.isEmpty ? "backend" : "backend, by \(kind)"
        let table = PrintedTable(
            [.init(title: nameTitle, isText: true)]
                + columns.map {
                    .init(title: $0.title, isText: $0.isText, isJoined: $0.isJoined)
                },
            lines: lines)
        return TerminalText.escaped(cells.heading, limit: TerminalText.messageLimit) + "\n" + table.text(width: nil)
    }

    private var lines: [PrintedTable.Line] {
        summaryRows.indices.flatMap { index in
            let row = summaryRows[index]
            let name = cells.name(of: row.cellID)
            let opensCell = !name.isEmpty && (index == 0 || summaryRows[index - 1].cellID != row.cellID)
            return (opensCell ? [.heading(name)] : []) + [line(of: row, isWithinCell: !name.isEmpty)]
        }
    }

    private func line(of row: SummaryRow, isWithinCell: Bool) -> PrintedTable.Line {
        let title = row.operationClass.isEmpty ? row.backendSide.title : "  " + className(row)
        let name = (isWithinCell ? "  " : "") + title
        let fields = fields(of: row)
        if row.status != .ok, fields.allSatisfy({ ["", Quantities.absent].contains($0) }) {
            return .text(name, row.status.rawValue)
        }
        let status = row.status == .ok || !row.operationClass.isEmpty ? "" : row.status.rawValue
        return .row([name] + zip(columns, fields).map(aligned), remark: status)
    }

    /// Aligns digits of ratios with and without a mark.
    private func aligned(_ column: SummaryColumn, _ field: String) -> String {
        guard column.isRatio, summaryRows.contains(where: \.isRatioUnlike), !field.hasSuffix(SummaryColumn.unlike)
        else {
            return field
        }
        return field + " "
    }

    /// The columns' fields, in order.
    func fields(of row: SummaryRow) -> [String] { columns.map { $0.text(row, context) } }

    private func className(_ row: SummaryRow) -> String {
        classKind.isEmpty ? row.operationClass : String(row.operationClass.dropFirst(classKind.count + 1))
    }
}

extension [SummaryRow] {
    /// The rows of each workload, in order of first appearance.
    var byWorkload: [[SummaryRow]] {
        let grouped = Dictionary(grouping: self, by: \.workload)
        return map(\.workload).uniqued().map { grouped[$0]! }
    }
}

extension Sequence where Element: Hashable {
    /// The elements without repetitions, in order of first appearance.
    func uniqued() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}

/// The summary as tables in Markdown, with all columns that have figures.
enum SummaryMarkdown {
    /// - Parameters: see `SummaryTable.text`.
    static func text(of rows: [SummaryRow], clockResolution: Double, isQuick: Bool) -> String {
        let sections = rows.byWorkload.map {
            SummarySection($0, clockResolution: clockResolution, isQuick: isQuick)
        }
        let notes = SummaryNotes(rows: rows, clockResolution: clockResolution, isQuick: isQuick)
        let entries = notes.entries.map { "- \(MarkdownText.cell($0.term)): \(MarkdownText.cell($0.meaning))\n" }
        let warning = notes.warning.map { MarkdownText.cell($0) + "\n\n" } ?? ""
        let findings = FindingSentences(rows, isQuick: isQuick).lines.map { "- \(MarkdownText.cell($0))\n" }
        let tables = sections.map(\.markdown).joined(separator: "\n")
        return warning + findings.joined() + (findings.isEmpty ? "" : "\n") + tables
            + (entries.isEmpty ? "" : "\n" + entries.joined())
    }
}

extension SummarySection {
    /// The title, and a table with a line for each row.
    fileprivate var markdown: String {
        let titles = ["cell", "backend", "class"] + columns.map { ColumnTitle($0.title).plain } + ["status"]
        let rule = ["---", "---", "---"] + columns.map { $0.isText ? "---" : "---:" } + ["---"]
        let lines = [titles.map(MarkdownText.cell), rule] + rows.map { $0.map(MarkdownText.cell) }
        return "**\(MarkdownText.cell(cells.heading))**\n\n"
            + lines.map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
    }

    private var rows: [[String]] {
        summaryRows.map { row in
            [cells.name(of: row.cellID), row.backendSide.title, row.operationClass]
                + fields(of: row) + [row.status.rawValue]
        }
    }
}

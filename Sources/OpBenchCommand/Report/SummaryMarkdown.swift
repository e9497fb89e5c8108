import OpBenchModel

/// The summary as tables in Markdown, with all columns that have figures.
enum SummaryMarkdown {
    /// - Parameters: as of `SummaryTable.text`.
    static func text(of rows: [SummaryRow], clockResolution: Double, isQuick: Bool) -> String {
        let sections = rows.map(\.workload).uniqued().map { workload in
            SummarySection(rows.filter { $0.workload == workload }, clockResolution: clockResolution, isQuick: isQuick)
        }
        let notes = SummaryNotes(
            rows: rows, clockResolution: clockResolution, isQuick: isQuick,
            ratioMarks: sections.reduce(into: []) { $0.formUnion($1.ratioMarks) }, hidden: [])
        let entries = notes.entries.map { "- \(MarkdownText.cell($0.term)): \(MarkdownText.cell($0.meaning))\n" }
        let warning = notes.warning.map { MarkdownText.cell($0) + "\n\n" } ?? ""
        return warning + sections.map(\.markdown).joined(separator: "\n")
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
            [cells.name(of: row.cellID), backend(row), row.operationClass] + fields(of: row) + [row.status.rawValue]
        }
    }
}

import OpBenchAnalysis
import OpBenchModel

/// Judged figures as tables, one per workload; headings name the cells with their backends.
enum ComparisonTable {
    /// - Parameter width: nil for all columns at full width.
    static func text(of report: ComparisonReport, width: Int? = TableWidth.ofOutput()) -> String {
        guard !report.rows.isEmpty else { return "no rule judges any figure\n" + outcome(of: report) }
        let rows = Dictionary(grouping: report.rows, by: \.workload)
        let cells = report.cellNames
        let sections = report.rows.map(\.workload).uniqued().map {
            section(rows[$0]!, cells[$0]!, report, width)
        }
        let hidden = sections.flatMap(\.hidden).uniqued()
        return sections.map(\.text).joined(separator: "\n") + notes(of: report, hidden: hidden, width: width)
            + findings(of: report, width: width) + outcome(of: report) + remedies(of: report, width: width)
    }

    private static func section(
        _ rows: [CompareRow], _ cells: CellNames, _ report: ComparisonReport, _ width: Int?
    ) -> TableText {
        // The headings have the first two columns, cell and backend. The reason of a verdict may be on a separate line.
        let verdict = CompareRow.Column("verdict", isText: true) {
            $0.verdict == .unjudged ? Quantities.absent : $0.verdict.rawValue + ($0.doubt == nil ? "" : ":")
        }
        let layout = Table(report.columns.dropFirst(2).dropLast() + [verdict], rows).layout(
            width: width,
            heading: { row in
                [cells.name(of: row.cellID), row.backend.rawValue].filter { !$0.isEmpty }.joined(separator: ", ")
            }, remark: { $0.doubt?.words ?? "" })
        let title = TerminalText.escaped(cells.heading, limit: TerminalText.messageLimit)
        return .init(
            text: WrappedText.paragraph(title, width: width, hanging: 2) + layout.text, hidden: layout.hidden)
    }

    private static func notes(of report: ComparisonReport, hidden: [String], width: Int?) -> String {
        var entries = report.surroundings.map {
            (term: "differs", meaning: TerminalText.escaped($0, limit: TerminalText.messageLimit))
        }
        if let noise = report.noise { entries.append(("noisy", noise)) }
        if !hidden.isEmpty {
            entries.append(("hidden", "terminal too narrow: \(hidden.joined(separator: ", ")); use --wide"))
        }
        return "\n" + DefinitionList(entries: entries).text(width: width) + TableText.pointer
    }

    private static func findings(of report: ComparisonReport, width: Int?) -> String {
        let lines = report.findings.map { TerminalText.escaped($0, limit: TerminalText.messageLimit) }
        return (lines.isEmpty ? "" : "\n") + lines.map { WrappedText.paragraph($0, width: width, hanging: 2) }.joined()
    }

    private static func remedies(of report: ComparisonReport, width: Int?) -> String {
        report.remedies.isEmpty
            ? "" : "\n" + report.remedies.map { WrappedText.paragraph($0, width: width, hanging: 2) }.joined()
    }

    private static func outcome(of report: ComparisonReport) -> String {
        guard let outcome = report.outcome else { return "" }
        return "\ngate: \(outcome.rawValue)\n"
    }
}

import OpBenchAnalysis
import OpBenchModel

/// Judged figures as a table in Markdown, for the summary of a CI job.
enum ComparisonMarkdown {
    static func text<Row>(of report: ComparisonReport<Row>) -> String {
        let rows = report.rows
        let titles = Row.reportColumns.map(\.title)
        let rule = Row.reportColumns.map { $0.isText ? "---" : "---:" }
        let lines = [titles, rule] + rows.map { report.fields($0).map(MarkdownText.cell) }
        let heading = report.outcome.map { "**gate: \($0.rawValue)**\(GateSummary.counts(of: rows))\n\n" } ?? ""
        return heading + lines.map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
            + (report.ratioNote.map { "\nratio: \($0).\n" } ?? "") + report.settlements.map(paragraph).joined()
    }

    private static func paragraph(_ settlement: Settlement) -> String {
        // A line of code takes no escapes, and ends with its line.
        let commands = settlement.commands.map { "    \(TerminalText.escaped($0))\n" }
        return "\n\(MarkdownText.cell("\(settlement.finding); \(settlement.advice):"))\n\n" + commands.joined()
    }
}

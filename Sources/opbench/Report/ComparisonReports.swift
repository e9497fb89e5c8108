import OpBenchAnalysis
import OpBenchModel

/// A comparison as a table in Markdown, for the summary of a CI job.
enum ComparisonMarkdown {
    static func text(of report: ComparisonReport) -> String {
        let rows = report.rows
        let titles = ComparisonColumn.all.map(\.title)
        let rule = ComparisonColumn.all.map { $0.isText ? "---" : "---:" }
        let lines = [titles, rule] + rows.map { row in ComparisonColumn.all.map { MarkdownText.cell($0.text(row)) } }
        let heading = report.outcome.map { "**gate: \($0.rawValue)**\(GateSummary.counts(of: rows))\n\n" } ?? ""
        return heading + lines.map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
            + (report.ratioNote.map { "\n\($0)\n" } ?? "") + report.settlements.map(paragraph).joined()
    }

    private static func paragraph(_ settlement: Settlement) -> String {
        // A line of code takes no escapes, and ends with its line.
        let commands = settlement.commands.map { "    \(TerminalText.escaped($0))\n" }
        return "\n\(MarkdownText.cell("\(settlement.finding); \(settlement.advice):"))\n\n" + commands.joined()
    }
}

/// Workflow commands by which GitHub marks a job's result: one for each figure that fails or is missing.
enum GitHubAnnotations {
    static func text(of report: ComparisonReport) -> String {
        report.rows.compactMap { row -> String? in
            let level: String
            switch row.verdict {
            case .regression: level = "error"
            case .inconclusive, .missing: level = "warning"
            case .pass, .improved, .unjudged: return nil
            }
            return WorkflowCommand(
                level, title: TerminalText.escaped("\(row.verdict.rawValue) of \(row.figureName)"),
                message: TerminalText.escaped(report.sentence(row), limit: TerminalText.messageLimit)
            ).line
        }.joined()
    }
}

/// A comparison as JUnit XML: a test case for each figure that is judged, failed if it is a regression or missing,
/// skipped if it is inconclusive.
enum JUnitReport {
    static func text(of report: ComparisonReport) -> String {
        let judged = report.rows.filter { $0.verdict != .unjudged }
        let failures = judged.count { $0.verdict == .regression || $0.verdict == .missing }
        let skipped = judged.count { $0.verdict == .inconclusive }
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text +=
            "<testsuite name=\"opbench gate\" tests=\"\(judged.count)\" failures=\"\(failures)\" skipped=\"\(skipped)\">\n"
        for row in judged { text += testCase(row, report) }
        return text + "</testsuite>\n"
    }

    private static func testCase(_ row: CompareRow, _ report: ComparisonReport) -> String {
        let name = XMLText.attribute("\(row.backend.rawValue) \(row.figureName)")
        let opening = "  <testcase classname=\"\(XMLText.attribute(row.cellID))\" name=\"\(name)\""
        let message = "message=\"\(XMLText.attribute(report.sentence(row)))\""
        return switch row.verdict {
        case .regression, .missing:
            "\(opening)>\n    <failure type=\"\(row.verdict.rawValue)\" \(message)/>\n  </testcase>\n"
        case .inconclusive: "\(opening)>\n    <skipped \(message)/>\n  </testcase>\n"
        case .pass, .improved, .unjudged: "\(opening)/>\n"
        }
    }
}

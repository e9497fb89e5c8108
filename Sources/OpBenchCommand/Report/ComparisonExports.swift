import OpBenchAnalysis
import OpBenchModel

/// Judged figures in Markdown, for the summary of a CI job and for a comment: first the verdict, then the figures that
/// need attention with their remedies, then the others, folded.
enum ComparisonMarkdown {
    /// In bytes. A comment on GitHub holds 65,536 characters.
    static let sizeLimit = 60_000

    static func text<Row>(of report: ComparisonReport<Row>) -> String {
        let rows = report.rows
        let remarkable = rows.filter { $0.verdict.isRemarkable }
        let others = rows.filter { !$0.verdict.isRemarkable }
        let verdict = report.outcome.map { "gate: \($0.rawValue)" } ?? "comparison"
        var text = "### opbench \(verdict)\(GateSummary.counts(of: rows))\n"
        for line in [report.bound, report.origin, report.noise].compactMap(\.self) {
            text += "\n\(MarkdownText.cell(line))\n"
        }
        if rows.isEmpty { text += "\nNo rule judges any figure.\n" }
        let remedies =
            report.remedies.isEmpty ? "" : "\n" + report.remedies.map { "- \(MarkdownText.cell($0))\n" }.joined()
        let note = report.ratioNote.map { "\nratio: \($0).\n" } ?? ""
        let room = sizeLimit - text.utf8.count - remedies.utf8.count - note.utf8.count
        if !remarkable.isEmpty { text += "\n" + table(remarkable, of: report, room: room / 2) + note }
        text += remedies
        if !others.isEmpty {
            let folding = "\n" + table(others, of: report, room: room / 2) + (remarkable.isEmpty ? note : "")
            let figures = others.count == 1 ? "1 figure" : "\(others.count) figures"
            text += folded("\(figures) unchanged", folding)
        }
        return text
    }

    /// - Parameter room: the limit in bytes; rows beyond it are only counted.
    private static func table<Row>(_ rows: [Row], of report: ComparisonReport<Row>, room: Int) -> String {
        func line(_ fields: [String]) -> String { "| " + fields.joined(separator: " | ") + " |\n" }
        var text = line(Row.reportColumns.map(\.title)) + line(Row.reportColumns.map { $0.isText ? "---" : "---:" })
        for (index, row) in rows.enumerated() {
            let next = line(report.fields(row).map(MarkdownText.cell))
            if text.utf8.count + next.utf8.count > room {
                return text + "\n… and \(rows.count - index) more figures, which --csv writes to a file.\n"
            }
            text += next
        }
        return text
    }

    private static func folded(_ title: String, _ text: String) -> String {
        "\n<details><summary>\(title)</summary>\n\(text)\n</details>\n"
    }
}

extension Verdict {
    /// Whether it needs attention.
    fileprivate var isRemarkable: Bool {
        switch self {
        case .regression, .missed, .inconclusive, .missing, .improved: true
        case .pass, .met, .unjudged: false
        }
    }
}

/// Workflow commands for GitHub: one for each figure that fails or is missing.
enum GitHubAnnotations {
    static func text<Row>(of report: ComparisonReport<Row>) -> String {
        report.rows.compactMap { row -> String? in
            let level: String
            switch row.verdict {
            case .regression, .missed: level = "error"
            case .inconclusive, .missing: level = "warning"
            case .pass, .improved, .met, .unjudged: return nil
            }
            return WorkflowCommand(
                level, title: TerminalText.escaped("\(row.verdict.rawValue) of \(row.figureName)"),
                message: TerminalText.escaped(report.sentence(row), limit: TerminalText.messageLimit)
            ).line
        }.joined()
    }
}

/// Judged figures as JUnit XML: a test case for each, failed for a regression, a missed goal or a missing figure,
/// skipped if inconclusive. If a gate fails for another reason, there is one more test case, so that no report is green
/// for a failed gate.
enum JUnitReport {
    static func text<Row>(of report: ComparisonReport<Row>) -> String {
        let judged = report.rows.filter { $0.verdict != .unjudged }
        let reason = report.outcome.flatMap { Self.reason(for: $0, hasFigures: !judged.isEmpty) }
        let failures =
            judged.count { [.regression, .missed, .missing].contains($0.verdict) } + (reason == nil ? 0 : 1)
        let skipped = judged.count { $0.verdict == .inconclusive }
        let tests = judged.count + (reason == nil ? 0 : 1)
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text +=
            "<testsuite name=\"opbench gate\" tests=\"\(tests)\" failures=\"\(failures)\" skipped=\"\(skipped)\">\n"
        if let reason {
            text +=
                "  <testcase classname=\"opbench gate\" name=\"samples\">\n    <failure message=\"\(reason)\"/>\n  </testcase>\n"
        }
        for row in judged { text += testCase(row, report) }
        return text + "</testsuite>\n"
    }

    /// Why the gate fails for a reason other than a figure.
    private static func reason(for outcome: GateOutcome, hasFigures: Bool) -> String? {
        switch outcome {
        case .badSample: "some samples are invalid, crashed or timed out"
        case .pass: nil
        case .regression, .missed, .missing, .inconclusive: hasFigures ? nil : "no figure was judged"
        }
    }

    private static func testCase<Row>(_ row: Row, _ report: ComparisonReport<Row>) -> String {
        let name = XMLText.attribute("\(row.backend.rawValue) \(row.figureName)")
        let opening = "  <testcase classname=\"\(XMLText.attribute(row.cellID))\" name=\"\(name)\""
        let message = "message=\"\(XMLText.attribute(report.sentence(row)))\""
        return switch row.verdict {
        case .regression, .missed, .missing:
            "\(opening)>\n    <failure type=\"\(row.verdict.rawValue)\" \(message)/>\n  </testcase>\n"
        case .inconclusive: "\(opening)>\n    <skipped \(message)/>\n  </testcase>\n"
        case .pass, .improved, .met, .unjudged: "\(opening)/>\n"
        }
    }
}

import OpBenchAnalysis
import OpBenchModel

/// Workflow commands for GitHub: one for each figure that fails or is missing.
enum GitHubAnnotations {
    static func text(of report: ComparisonReport) -> String {
        report.rows.compactMap { row -> String? in
            let level: String
            switch row.verdict {
            case .regression, .missed: level = "error"
            case .inconclusive, .missing: level = "warning"
            case .pass, .improved, .met, .unjudged: return nil
            }
            return WorkflowCommand.line(
                level, title: TerminalText.escaped("\(row.verdict.rawValue) of \(row.figureName)"),
                message: TerminalText.escaped(report.sentence(row), limit: TerminalText.messageLimit))
        }.joined()
    }
}

/// Judged figures as JUnit XML: a test case for each, failed for a regression, a missed goal or a missing figure,
/// skipped if inconclusive. If a gate fails for another reason, there is one more test case, so that no report is green
/// for a failed gate.
enum JUnitReport {
    static func text(of report: ComparisonReport) -> String {
        let judged = report.rows.filter { $0.verdict != .unjudged }
        let reason = report.failure
        let failures =
            judged.count { [.regression, .missed, .missing].contains($0.verdict) } + (reason == nil ? 0 : 1)
        let skipped = judged.count { $0.verdict == .inconclusive }
        let tests = judged.count + (reason == nil ? 0 : 1)
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text +=
            "<testsuite name=\"opbench gate\" tests=\"\(tests)\" failures=\"\(failures)\" skipped=\"\(skipped)\">\n"
        if !report.surroundings.isEmpty {
            let properties = report.surroundings.map {
                "    <property name=\"differs\" value=\"\(XMLText.attribute($0))\"/>\n"
            }
            text += "  <properties>\n\(properties.joined())  </properties>\n"
        }
        if let reason {
            text +=
                "  <testcase classname=\"opbench gate\" name=\"samples\">\n    <failure message=\"\(reason)\"/>\n  </testcase>\n"
        }
        for row in judged { text += testCase(row, report) }
        return text + "</testsuite>\n"
    }

    private static func testCase(_ row: CompareRow, _ report: ComparisonReport) -> String {
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

import OpBenchAnalysis
import OpBenchModel

/// Judged figures as JUnit XML: a test case for each, failed if it is a regression, beyond its goal or missing, skipped if
/// it is inconclusive. A gate that fails for another reason than a figure has one more, so that no report is green where the
/// gate is not.
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

    /// Why the gate fails, where no figure says so.
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

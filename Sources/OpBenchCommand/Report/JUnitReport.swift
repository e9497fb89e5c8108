import OpBenchModel

/// Judged figures as JUnit XML: a test case for each, failed if it is a regression, beyond its goal or missing, skipped if
/// it is inconclusive.
enum JUnitReport {
    static func text<Row>(of report: ComparisonReport<Row>) -> String {
        let judged = report.rows.filter { $0.verdict != .unjudged }
        let failures = judged.count { [.regression, .missed, .missing].contains($0.verdict) }
        let skipped = judged.count { $0.verdict == .inconclusive }
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text +=
            "<testsuite name=\"opbench gate\" tests=\"\(judged.count)\" failures=\"\(failures)\" skipped=\"\(skipped)\">\n"
        for row in judged { text += testCase(row, report) }
        return text + "</testsuite>\n"
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

import OpBenchModel

/// Workflow commands by which GitHub marks a job's result: one for each figure that fails or is missing.
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

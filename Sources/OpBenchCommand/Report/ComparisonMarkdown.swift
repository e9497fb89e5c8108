import OpBenchAnalysis
import OpBenchModel

/// Judged figures in Markdown, for a comment on a pull request and the summary of a CI job: the outcome, one sentence
/// per finding, their explanations, the command that makes them, and the remedies. All columns of all figures are
/// folded.
enum ComparisonMarkdown {
    /// In bytes. A comment on GitHub holds 65,536 characters.
    static let sizeLimit = 60_000

    static func text(of report: ComparisonReport) -> String {
        let rows = report.rows
        let outcome = report.outcome.map { "\($0.icon) opbench gate: \($0.rawValue)" } ?? "opbench comparison"
        let counts = rows.verdictCounts.isEmpty ? "" : " (\(rows.verdictCounts))"
        var text = "### \(outcome)\(counts)\n"
        let reason = report.failure.map { "\($0.prefix(1).uppercased())\($0.dropFirst())." }
        let differing = report.surroundings.map { "Differs around the code: \($0)" }
        for line in [reason].compactMap(\.self) + differing + [report.bound].compactMap(\.self) {
            text += "\n\(MarkdownText.cell(line))\n"
        }
        var closing = report.explanations.prefix(mostExplanations).map(explained).joined()
        if let words = report.explainingWords {
            closing += "\nRank the functions behind it:\n\n    \(ShellWords.joined(words))\n"
        }
        if !report.remedies.isEmpty {
            closing += "\n" + report.remedies.map { "- \(MarkdownText.cell($0))\n" }.joined()
        }
        let room = (sizeLimit - text.utf8.count - closing.utf8.count) / 2
        let findings = rows.filter { $0.verdict.findingIcon != nil }
        if !findings.isEmpty { text += "\n" + written(findingColumns(of: report), findings, room: room) }
        return text + closing + (rows.isEmpty ? "" : folded("All figures (\(rows.count))", all(of: report, room: room)))
    }

    private static let mostExplanations = 3
    private static let mostExplainedBytes = 5_000
    private static let mostHeading = 300

    /// An explanation, folded below its heading.
    private static func explained(_ text: String) -> String {
        let lines = text.split(separator: "\n").map { MarkdownText.cell(String($0)) }
        var shown = ""
        for line in lines.dropFirst() where shown.utf8.count + line.utf8.count < mostExplainedBytes {
            shown += line + "\n"
        }
        return folded("Explained: \(lines.first?.prefix(mostHeading) ?? "")", "<pre>\n\(shown)</pre>\n")
    }

    /// The sentence of a finding, and the figures behind it.
    private static func findingColumns(of report: ComparisonReport) -> [CompareRow.Column] {
        let (names, resolution) = (report.cellNames, report.clockResolution)
        let finding = CompareRow.Column("finding", isText: true, isMarkup: true) {
            "\($0.verdict.findingIcon ?? "") \(sentence($0, names, resolution))"
        }
        return [finding]
            + report.columns.filter { ["base", "new", "median", "other", "95 % interval"].contains($0.title) }
    }

    /// `pool uses 32 % more CPU time per operation (queue, each)`
    private static func sentence(
        _ row: CompareRow, _ names: [Substring: CellNames], _ resolution: Double
    ) -> String {
        let workload = row.workload
        let settings = (names[workload]?.name(of: row.cellID) ?? "").split(separator: " ").filter { $0 != workload }
        let values = settings.map { setting in
            let value = setting.drop { $0 != "=" }.dropFirst()
            let isClear = value.first?.isLetter == true && !["default", "true", "false"].contains(value)
            return isClear ? value : setting
        }
        let backend = MarkdownText.cell(row.backend.rawValue)
        // Between backticks, an entity would be shown literally.
        let name = backend == row.backend.rawValue ? "`\(backend)`" : backend
        let cell = ([workload] + values).joined(separator: ", ")
        return name + MarkdownText.cell("\(row.predicate(resolution)) (\(cell))")
    }

    /// All columns of all figures, those that need attention first.
    private static func all(of report: ComparisonReport, room: Int) -> String {
        let rows = report.rows.filter(\.verdict.isRemarkable) + report.rows.filter { !$0.verdict.isRemarkable }
        let facts = [report.origin, report.noise.map { "noisy: \($0)" }].compactMap(\.self)
        return written(report.columns, rows, room: room) + facts.map { "\n\(MarkdownText.cell($0))\n" }.joined()
    }

    private static func written(_ columns: [CompareRow.Column], _ rows: [CompareRow], room: Int) -> String {
        Table(columns, rows).markdown(room: room) {
            "\n… and \(counted($0, "more figure")), which --csv writes to a file.\n"
        }
    }

    private static func folded(_ title: String, _ text: String) -> String {
        "\n<details><summary>\(title)</summary>\n\n\(text)\n</details>\n"
    }
}

extension GateOutcome {
    fileprivate var icon: String {
        switch self {
        case .badSample, .regression, .missed: "❌"
        case .missing, .inconclusive: "⚠️"
        case .pass: "✅"
        }
    }
}

extension Verdict {
    /// Nil for a verdict that is not a finding. Inconclusive figures have their remedies instead.
    fileprivate var findingIcon: String? {
        switch self {
        case .regression, .missed: "❌"
        case .missing: "⚠️"
        case .improved: "✅"
        case .pass, .met, .unjudged, .inconclusive: nil
        }
    }

    /// Whether it needs attention.
    fileprivate var isRemarkable: Bool { findingIcon != nil || self == .inconclusive }
}

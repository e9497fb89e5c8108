import OpBenchAnalysis
import OpBenchModel

/// Judged figures in Markdown, for a comment on a pull request and the summary of a CI job: the outcome, one sentence
/// per finding, their explanations, the command that makes them, and the remedies. All columns of all figures are
/// folded.
enum ComparisonMarkdown {
    /// In bytes. A comment on GitHub holds 65,536 characters.
    static let sizeLimit = 60_000

    static func text<Row>(of report: ComparisonReport<Row>) -> String {
        let rows = report.rows
        let outcome = report.outcome.map { "\($0.icon) opbench gate: \($0.rawValue)" } ?? "opbench comparison"
        var text = "### \(outcome)\(GateSummary.counts(of: rows))\n"
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
        if !findings.isEmpty { text += "\n" + table(findings, findingColumns(of: report), room: room) }
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

    /// A column in Markdown: its title and the escaped cell of a row.
    private typealias Column<Row> = (title: String, isText: Bool, cell: (Row) -> String)

    /// The sentence of a finding, and the figures behind it.
    private static func findingColumns<Row>(of report: ComparisonReport<Row>) -> [Column<Row>] {
        let names = report.cellNames
        let finding: Column<Row> = (
            "finding", true, { "\($0.verdict.findingIcon ?? "") \(sentence($0, names, report.units))" }
        )
        return [finding] + columns(of: report) { Row.findingColumns.contains($0.title) }
    }

    private static func columns<Row>(
        of report: ComparisonReport<Row>, where isShown: (ReportColumn<Row>) -> Bool = { _ in true }
    ) -> [Column<Row>] {
        Row.reportColumns.filter(isShown).map { column in
            (column.title, column.isText, { MarkdownText.cell(column.text($0, report.units)) })
        }
    }

    /// `pool uses 32 % more CPU time per operation (queue, each)`
    private static func sentence<Row: JudgedRow>(
        _ row: Row, _ names: [Substring: CellNames], _ units: FigureUnits
    ) -> String {
        let backend = MarkdownText.cell(row.backend.rawValue)
        // Between backticks, an entity would be shown literally.
        let name = backend == row.backend.rawValue ? "`\(backend)`" : backend
        let workload = ComparisonTable.workload(of: row.cellID)
        let settings = (names[workload]?.name(of: row.cellID) ?? "").split(separator: " ").filter { $0 != workload }
        let values = settings.map { setting in
            let value = setting.drop { $0 != "=" }.dropFirst()
            let isClear = value.first?.isLetter == true && !["default", "true", "false"].contains(value)
            return isClear ? value : setting
        }
        let cell = ([workload] + values).joined(separator: ", ")
        return name + MarkdownText.cell("\(row.predicate(units)) (\(cell))")
    }

    /// All columns of all figures, those that need attention first.
    private static func all<Row>(of report: ComparisonReport<Row>, room: Int) -> String {
        let rows = report.rows.filter(\.verdict.isRemarkable) + report.rows.filter { !$0.verdict.isRemarkable }
        let facts = [report.origin, report.noise.map { "noisy: \($0)" }].compactMap(\.self)
        return table(rows, columns(of: report), room: room) + facts.map { "\n\(MarkdownText.cell($0))\n" }.joined()
    }

    /// - Parameter room: the limit in bytes; rows beyond it are only counted.
    private static func table<Row>(_ rows: [Row], _ columns: [Column<Row>], room: Int) -> String {
        func line(_ fields: [String]) -> String { "| " + fields.joined(separator: " | ") + " |\n" }
        var text = line(columns.map(\.title)) + line(columns.map { $0.isText ? "---" : "---:" })
        for (index, row) in rows.enumerated() {
            let next = line(columns.map { $0.cell(row) })
            if text.utf8.count + next.utf8.count > room {
                return text + "\n… and \(counted(rows.count - index, "more figure")), which --csv writes to a file.\n"
            }
            text += next
        }
        return text
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

extension CompareRow {
    static let findingColumns = ["base", "new", "95 % interval"]

    func predicate(_ units: FigureUnits) -> String {
        guard let base, let head else {
            return "'s \(figureName) \(base == nil ? "has no base" : "is only in the base")"
        }
        guard let ratio else {
            let ends = [
                units.figure(base, of: figure.metric, beside: head),
                units.figure(head, of: figure.metric, beside: base),
            ]
            return "'s \(figureName) changed from \(ends[0]) to \(ends[1])"
        }
        let part = Quantities.change(ratio - 1).drop { "+−".contains($0) }
        let more = ratio > 1 ? "more" : "less"
        guard [figure.metric, "\(figure.metric) total"].contains(figureName) else {
            return "'s \(figureName) is \(part) \(ratio > 1 ? "higher" : "lower")"
        }
        return switch figure.metric {
        case Metric.time.name: " takes \(part) \(more) time per operation"
        case Metric.cpuTime.name: " uses \(part) \(more) CPU time per operation"
        case Metric.allocations.name: " makes \(part) \(ratio > 1 ? "more" : "fewer") allocations per operation"
        case Metric.allocatedBytes.name: " allocates \(part) \(more) memory per operation"
        case BaselineRatio.time.rawValue: " takes \(part) \(more) time relative to Dispatch"
        case BaselineRatio.cpuTime.rawValue: " uses \(part) \(more) CPU time relative to Dispatch"
        default: "'s \(figureName) is \(part) \(ratio > 1 ? "higher" : "lower")"
        }
    }
}

extension GoalRow {
    static let findingColumns = ["median", "other", "95 % interval"]

    func predicate(_ units: FigureUnits) -> String {
        func text(_ title: String) -> String {
            Self.reportColumns.first { $0.title == title }?.text(self, units) ?? Quantities.absent
        }
        guard verdict != .missing else { return "'s \(figureName) was not measured" }
        let figure = text(ratio == nil ? "median" : Self.ratioTitle)
        return "'s \(figureName) is \(figure); the goal is at most \(text("at most"))"
    }
}

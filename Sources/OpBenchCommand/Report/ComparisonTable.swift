import OpBenchAnalysis
import OpBenchModel

/// Judged figures as people read them: a line per figure, in the order of their cells.
enum ComparisonTable {
    /// - Parameter width: nil for as much as the table takes.
    static func text<Row>(of report: ComparisonReport<Row>, width: Int? = TableWidth.ofOutput()) -> String {
        guard !report.rows.isEmpty else { return "no rule judges any figure\n" + outcome(of: report) }
        let table = PrintedTable(
            Row.reportColumns.map { .init(title: $0.title, isText: $0.isText) },
            rows: report.rows.map { row in Row.reportColumns.map { $0.text(row) } })
        return table.text(width: width)
            + (report.ratioNote.map { "\n\($0)\n" } ?? "") + outcome(of: report)
            + report.settlements.map(paragraph).joined()
    }

    private static func paragraph(_ settlement: Settlement) -> String {
        // The commands hold what a description of a run tells.
        let lines = ["\(settlement.finding); \(settlement.advice):"] + settlement.commands.map { "  \($0)" }
        return "\n" + lines.map { TerminalText.escaped($0) + "\n" }.joined()
    }

    private static func outcome<Row>(of report: ComparisonReport<Row>) -> String {
        guard let outcome = report.outcome else { return "" }
        return "\ngate: \(outcome.rawValue)\(GateSummary.counts(of: report.rows))\n"
    }
}

extension CompareRow: JudgedRow {
    static let reportColumns: [ReportColumn<CompareRow>] = [
        .init(title: "cell", isText: true) { $0.cellID },
        .init(title: "backend", isText: true) { $0.backend.rawValue },
        .init(title: "figure", isText: true) { $0.figureName },
        .init(title: "base") { Quantities.figure($0.base, of: $0.metric) },
        .init(title: "new") { Quantities.figure($0.head, of: $0.metric) },
        .init(title: "ratio") { $0.ratio.map(Quantities.ratio) ?? Quantities.absent },
        .init(title: "95 % interval") { row in
            guard let low = row.ratioLow, let high = row.ratioHigh else { return Quantities.absent }
            return "\(Quantities.ratio(low)) – \(Quantities.ratio(high))"
        },
        .init(title: "p adjusted") { $0.adjustedProbability.map(Quantities.probability) ?? Quantities.absent },
        .init(title: "margin") { row in
            (row.threshold.map(Quantities.percent) ?? Quantities.absent) + (row.isRaisedToFloor ? " (floor)" : "")
        },
        .init(title: "detects") { $0.detectable.map(Quantities.percent) ?? Quantities.absent },
        .init(title: "verdict", isText: true) { $0.judgement.isEmpty ? Quantities.absent : $0.judgement },
    ]

    var runID: String { "" }
    var hasRatio: Bool { ratio != nil }

    /// The metric with what distinguishes it: `time total`, `start_latency p99 priority=high`.
    var figureName: String {
        ([metric] + [phase, stat == phase ? "" : stat, operationClass].filter { !$0.isEmpty }).joined(separator: " ")
    }
}

extension GoalRow: JudgedRow {
    static let reportColumns: [ReportColumn<GoalRow>] = [
        .init(title: "cell", isText: true) { $0.cellID },
        .init(title: "backend", isText: true) { $0.backend.rawValue },
        .init(title: "figure", isText: true) { $0.figureName },
        .init(title: "median") { Quantities.figure($0.value, of: $0.metric) },
        .init(title: "other") { Quantities.figure($0.base, of: $0.metric) },
        .init(title: "ratio") { $0.ratio.map(Quantities.fineRatio) ?? Quantities.absent },
        .init(title: "95 % interval") { row in
            guard let low = row.low, let high = row.high else { return Quantities.absent }
            return "\(row.bounded(low)) – \(row.bounded(high))"
        },
        .init(title: "at most") { row in
            guard let atMost = row.atMost else { return Quantities.absent }
            // A bound on a count may lie just above a whole number.
            let isCount = row.reference.isEmpty && Metric.named(row.metric)?.unit == .count
            return isCount ? FigureText.write(atMost) : row.bounded(atMost)
        },
        .init(title: "verdict", isText: true) { $0.judgement },
    ]

    var hasRatio: Bool { ratio != nil }

    /// The figure, and what it is held against: `time total ÷ dispatch`.
    var figureName: String {
        let figure = CompareRow(
            cellID: cellID, backend: backend, phase: phase, operationClass: operationClass, metric: metric, stat: stat)
        return figure.figureName + (reference.isEmpty ? "" : " ÷ \(reference)")
    }

    /// In the unit of what the goal bounds.
    private func bounded(_ value: Double) -> String {
        reference.isEmpty ? Quantities.figure(value, of: metric) : Quantities.fineRatio(value)
    }
}

/// How many figures got which verdict.
enum GateSummary {
    static func counts(of rows: [some JudgedRow]) -> String {
        let parts = Verdict.allCases.filter { $0 != .unjudged }.compactMap { verdict in
            let count = rows.count { $0.verdict == verdict }
            return count == 0 ? nil : "\(count) \(verdict.rawValue)"
        }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }
}

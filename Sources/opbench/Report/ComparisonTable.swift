import OpBenchAnalysis
import OpBenchModel
import TextTable

/// A comparison as people read it: a line per figure, the worst verdicts first within each cell's order.
enum ComparisonTable {
    static func text(of report: ComparisonReport) -> String {
        guard !report.rows.isEmpty else { return "no rule judges any figure\n" + outcome(of: report) }
        let lines = report.rows.map { row in ComparisonColumn.all.map { column(of: row, $0) } }
        return PrintedTable.text(of: lines)
            + (report.ratioNote.map { "\n\($0)\n" } ?? "") + outcome(of: report)
            + report.settlements.map(paragraph).joined()
    }

    private static func paragraph(_ settlement: Settlement) -> String {
        // The commands hold what a description of a run tells.
        let lines = ["\(settlement.finding); \(settlement.advice):"] + settlement.commands.map { "  \($0)" }
        return "\n" + lines.map { TerminalText.escaped($0) + "\n" }.joined()
    }

    private static func outcome(of report: ComparisonReport) -> String {
        guard let outcome = report.outcome else { return "" }
        return "\ngate: \(outcome.rawValue)\(GateSummary.counts(of: report.rows))\n"
    }

    private static func column(of row: CompareRow, _ column: ComparisonColumn) -> Column {
        Column(title: column.title, field: column.text(row), align: column.isText ? .left : .right)
    }
}

/// What all printed forms of a comparison show of a figure.
struct ComparisonColumn: Sendable {
    let title: String
    var isText = false
    let text: @Sendable (CompareRow) -> String

    static let all: [ComparisonColumn] = [
        .init(title: "cell", isText: true) { $0.cellID },
        .init(title: "backend", isText: true) { $0.backend.rawValue },
        .init(title: "figure", isText: true) { $0.figureName },
        .init(title: "base") { figure($0.base, of: $0) },
        .init(title: "new") { figure($0.head, of: $0) },
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

    private static func figure(_ value: Double?, of row: CompareRow) -> String {
        guard let value else { return Quantities.absent }
        return switch Metric.named(row.metric)?.unit {
        case .seconds: Quantities.duration(nanoseconds: value * 1e9)
        case .bytes: Quantities.bytes(value)
        case .perSecond, .count: Quantities.count(value)
        case .ratio, nil: Quantities.ratio(value)
        }
    }
}

extension CompareRow {
    /// The metric with what distinguishes it: `time total`, `start_latency p99 priority=high`.
    var figureName: String {
        ([metric] + [phase, stat == phase ? "" : stat, operationClass].filter { !$0.isEmpty }).joined(separator: " ")
    }
}

/// How many figures got which verdict.
enum GateSummary {
    static func counts(of rows: [CompareRow]) -> String {
        let parts = Verdict.allCases.filter { $0 != .unjudged }.compactMap { verdict in
            let count = rows.count { $0.verdict == verdict }
            return count == 0 ? nil : "\(count) \(verdict.rawValue)"
        }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }
}

import Glibc
import OpBenchAnalysis
import OpBenchModel

// The printed columns of judged figures. The first three identify the figure, the last is the verdict.

extension JudgedRow {
    static var ratioTitle: String { "ratio" }

    fileprivate static var cellColumn: ReportColumn<Self> {
        .init(title: "cell", isText: true, meaning: "The cell's id; in a table, above its figures.") { row, _ in
            row.cellID
        }
    }

    fileprivate static var backendColumn: ReportColumn<Self> {
        .init(title: "backend", isText: true, meaning: "The figure's backend; in a table, after the cell.") { row, _ in
            row.backend.rawValue
        }
    }
}

extension CompareRow: JudgedRow {
    static let reportColumns: [ReportColumn<CompareRow>] = [
        cellColumn, backendColumn,
        .init(
            title: "figure", isText: true,
            meaning: """
                The metric, with its phase, statistic and class; `explain-columns` explains each metric. `since NAME`: \
                compared with that baseline, which the policy bounds drift against.
                """
        ) { row, _ in row.figureName },
        .init(
            title: "base", rank: 4,
            meaning: """
                The median of the base or, of a count, the least that two of its samples agree on; per operation or round \
                depending on the metric.
                """
        ) { row, units in units.figure(row.base, of: row.metric, beside: row.head) },
        .init(title: "new", rank: 4, meaning: "The same figure of the judged side.") { row, units in
            units.figure(row.head, of: row.metric, beside: row.base)
        },
        .init(
            title: ratioTitle, rank: 1,
            meaning: "new ÷ base: \(Figure.ratioEstimate)."
        ) { row, _ in row.ratio.map(Quantities.ratio) ?? Quantities.absent },
        .init(
            title: "95 % interval", rank: 2, isJoined: true,
            meaning: """
                The ends of the ratio's interval. The end that a pass depends on has the certainty that the policy's \
                alpha requires.
                """
        ) { row, _ in
            guard let low = row.ratioLow, let high = row.ratioHigh else { return Quantities.absent }
            return Quantities.ratioInterval(low, high)
        },
        .init(
            title: "p adjusted", rank: 6, isDetail: true,
            meaning: """
                The probability of such a difference between equal sides, adjusted for the number of judged figures \
                (Holm).
                """
        ) { row, _ in row.adjustedProbability.map(Quantities.probability) ?? Quantities.absent },
        .init(
            title: "margin", rank: 3,
            meaning: "The allowed worsening as a part of the figure, or `min_absolute` if that is more."
        ) { row, _ in row.threshold.map(Quantities.percent) ?? Quantities.absent },
        .init(
            title: "detects", rank: 5, isDetail: true,
            meaning: "The comparison's power: the worsening that would be reported as a regression 95 times in 100."
        ) { row, _ in row.detectable.map(Quantities.percent) ?? Quantities.absent },
        .init(
            title: "verdict", isText: true,
            meaning: """
                pass, improved or regression; inconclusive, with the reason; missing if only one side has the figure.
                """
        ) { row, _ in row.judgement.isEmpty ? Quantities.absent : row.judgement },
    ]

    var runID: String { "" }

    var excess: Double? { ratio.map { abs(log($0)) } }

    var figureName: String { figure.title + (isOfTwoBuilds ? "" : " since \(against)") }

    var isOfTwoBuilds: Bool { against.isEmpty }
}

extension GoalRow: JudgedRow {
    static let reportColumns: [ReportColumn<GoalRow>] = [
        cellColumn, backendColumn,
        .init(title: "figure", isText: true, meaning: "The metric, and ÷ the reference of the goal.") { row, _ in
            row.figureName
        },
        .init(
            title: "median", rank: 4,
            meaning: """
                The figure's median or, of a count, the least that two samples agree on; per operation or round depending \
                on the metric.
                """
        ) { row, units in units.figure(row.value, of: row.metric) },
        .init(title: "other", rank: 5, meaning: "The same figure of the reference.") { row, units in
            units.figure(row.base, of: row.metric)
        },
        .init(
            title: ratioTitle, rank: 1,
            meaning: "The figure ÷ the reference: \(Figure.ratioEstimate)."
        ) { row, _ in row.ratio.map(Quantities.ratio) ?? Quantities.absent },
        .init(
            title: "95 % interval", rank: 2, isJoined: true,
            meaning: "The ends of the ratio's interval, or of the figure's if there is no ratio."
        ) { row, units in
            guard let low = row.low, let high = row.high else { return Quantities.absent }
            guard row.reference.isEmpty else { return Quantities.ratioInterval(low, high) }
            return Quantities.interval(low, high, around: row.value ?? low, of: row.metric)
        },
        .init(title: "at most", rank: 3, meaning: "The goal's limit, of a ratio or of the figure.") { row, _ in
            guard let atMost = row.atMost else { return Quantities.absent }
            guard row.reference.isEmpty else { return Quantities.ratio(atMost) }
            // A bound on a count may be just above a whole number.
            if Metric.named(row.metric)?.unit == .count { return FigureText.write(atMost) }
            return Quantities.figure(atMost, of: row.metric, resolution: 0)
        },
        .init(
            title: "verdict", isText: true,
            meaning: """
                met or missed; inconclusive, with the reason; missing if the goal's figure was not measured.
                """
        ) { row, _ in row.judgement },
    ]

    var mostUnseen: Double? { nil }

    var excess: Double? { ratio.map { log($0 / (atMost ?? 1)) } }

    /// The figure and the reference: `time total ÷ dispatch`.
    var figureName: String { figure.title + (reference.isEmpty ? "" : " ÷ \(reference)") }

    var isOfTwoBuilds: Bool { false }
}

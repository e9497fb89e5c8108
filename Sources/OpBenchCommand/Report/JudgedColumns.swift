import OpBenchAnalysis
import OpBenchModel

// What is printed of a judged figure, column by column. The first three say of what it is a figure, the last is the verdict.

extension JudgedRow {
    static var ratioTitle: String { "ratio" }

    /// Whether the ratio is, as it is written, another than that of the medians beside it.
    static func isRatioApart(_ row: Self) -> Bool {
        guard let ratio = row.ratio, let medians = row.medians else { return false }
        return Quantities.ratio(medians.own / medians.other) != Quantities.ratio(ratio)
    }

    fileprivate static var cellColumn: ReportColumn<Self> {
        .init(title: "cell", isText: true, meaning: "The cell's id; in a table, above its figures.") { row, _ in
            row.cellID
        }
    }

    fileprivate static var backendColumn: ReportColumn<Self> {
        .init(title: "backend", isText: true, meaning: "Whose figure it is; in a table, behind the cell.") { row, _ in
            row.backend.rawValue
        }
    }
}

extension CompareRow: JudgedRow {
    static let reportColumns: [ReportColumn<CompareRow>] = [
        cellColumn, backendColumn,
        .init(
            title: "figure", isText: true,
            meaning: "The metric, with its phase, statistic and class; `explain-columns` tells of each metric."
        ) { row, _ in row.figureName },
        .init(
            title: "base", rank: 4,
            meaning: "The median of what is compared with, per operation or round where the metric is counted so."
        ) { row, units in units.figure(row.base, of: row.metric, beside: row.head) },
        .init(title: "new", rank: 4, meaning: "The median of the side that is judged.") { row, units in
            units.figure(row.head, of: row.metric, beside: row.base)
        },
        .init(
            title: ratioTitle, rank: 1,
            meaning: """
                new ÷ base: the median of the ratios of the blocks (Hodges and Lehmann's). A * marks one that differs from \
                the quotient of the medians in the table.
                """
        ) { row, _ in row.ratio.map(Quantities.ratio) ?? Quantities.absent },
        .init(
            title: "95 % interval", rank: 2, isJoined: true,
            meaning: """
                Of the ratio: its two ends. The one that a pass depends on is as certain as the policy's alpha asks.
                """
        ) { row, _ in
            guard let low = row.ratioLow, let high = row.ratioHigh else { return Quantities.absent }
            return Quantities.ratioInterval(low, high)
        },
        .init(
            title: "p adjusted", rank: 6, isDetail: true,
            meaning: """
                The probability of such a difference between equal sides, adjusted for how many figures are judged (Holm).
                """
        ) { row, _ in row.adjustedProbability.map(Quantities.probability) ?? Quantities.absent },
        .init(
            title: "margin", rank: 3,
            meaning: """
                By what part the figure may get worse, or by `min_absolute`, if that is more; (floor) where it was raised to this \
                host's noise floor.
                """
        ) { row, _ in
            (row.threshold.map(Quantities.percent) ?? Quantities.absent) + (row.isRaisedToFloor ? " (floor)" : "")
        },
        .init(
            title: "detects", rank: 5, isDetail: true,
            meaning: "The comparison's power: a worsening of that size would be called a regression 95 times in 100."
        ) { row, _ in row.detectable.map(Quantities.percent) ?? Quantities.absent },
        .init(
            title: "verdict", isText: true,
            meaning: """
                pass, improved or regression; inconclusive, with the reason, where the data do not tell; missing where \
                only one side has the figure.
                """
        ) { row, _ in row.judgement.isEmpty ? Quantities.absent : row.judgement },
    ]

    var runID: String { "" }

    var medians: (own: Double, other: Double)? { head.flatMap { head in base.map { (head, $0) } } }

    var figureName: String { figure.title }
}

extension GoalRow: JudgedRow {
    static let reportColumns: [ReportColumn<GoalRow>] = [
        cellColumn, backendColumn,
        .init(title: "figure", isText: true, meaning: "The metric, and ÷ what the goal holds it against.") { row, _ in
            row.figureName
        },
        .init(
            title: "median", rank: 4, meaning: "Of the figure, per operation or round where the metric is counted so."
        ) { row, units in units.figure(row.value, of: row.metric) },
        .init(title: "other", rank: 5, meaning: "The median of what it is held against.") { row, units in
            units.figure(row.base, of: row.metric)
        },
        .init(
            title: ratioTitle, rank: 1,
            meaning: """
                The figure ÷ what it is held against: the median of the ratios of the blocks (Hodges and Lehmann's). A * \
                marks one that differs from the quotient of the medians in the table.
                """
        ) { row, _ in row.ratio.map(Quantities.ratio) ?? Quantities.absent },
        .init(
            title: "95 % interval", rank: 2, isJoined: true, meaning: "Of the ratio, or of the figure if there is none."
        ) { row, units in
            guard let low = row.low, let high = row.high else { return Quantities.absent }
            guard row.reference.isEmpty else { return Quantities.ratioInterval(low, high) }
            return Quantities.interval(low, high, around: row.value ?? low, of: row.metric)
        },
        .init(title: "at most", rank: 3, meaning: "What the goal allows: a ratio, or the figure itself.") { row, _ in
            guard let atMost = row.atMost else { return Quantities.absent }
            guard row.reference.isEmpty else { return Quantities.ratio(atMost) }
            // A bound on a count may lie just above a whole number.
            if Metric.named(row.metric)?.unit == .count { return FigureText.write(atMost) }
            return Quantities.figure(atMost, of: row.metric, resolution: 0)
        },
        .init(
            title: "verdict", isText: true,
            meaning: """
                met or missed; inconclusive, with the reason, where the data do not tell; missing where nothing was \
                measured that the goal is about.
                """
        ) { row, _ in row.judgement },
    ]

    var mostUnseen: Double? { nil }

    var medians: (own: Double, other: Double)? { value.flatMap { value in base.map { (value, $0) } } }

    /// The figure, and what it is held against: `time total ÷ dispatch`.
    var figureName: String { figure.title + (reference.isEmpty ? "" : " ÷ \(reference)") }
}

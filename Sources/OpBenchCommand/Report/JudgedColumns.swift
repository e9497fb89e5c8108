import Glibc
import OpBenchAnalysis
import OpBenchModel

extension CompareRow {
    typealias Column = Table<CompareRow>.Column

    /// The columns of comparisons, or of goals. The first three identify the figure, the last is the verdict.
    ///
    /// - Parameter resolution: resolution of the clock that timed the figures, in nanoseconds.
    static func columns(_ resolution: Double, ofGoals: Bool) -> [Column] {
        identity + (ofGoals ? measured(resolution) : sides(resolution)) + ratios + (ofGoals ? [limit] : margins)
            + [judgement]
    }

    /// The columns of either.
    static let allColumns = identity + sides(0) + measured(0) + ratios + margins + [limit, judgement]

    private static let identity = [
        Column("cell", isText: true, "The cell's id; in a table, above its figures.") { $0.cellID },
        Column("backend", isText: true, "The figure's backend; in a table, after the cell.") { $0.backend.rawValue },
        Column(
            "figure", isText: true,
            """
            The metric, with its phase, statistic and class; `opbench describe NAME` explains each metric. `since NAME`: \
            compared with that baseline, which the policy bounds drift against. `÷ NAME`: the reference of a goal.
            """
        ) { $0.figureName },
    ]

    private static let median = """
        or, of a count, the least that two of its samples agree on; per operation or round depending on the metric.
        """

    /// The figures of two sides.
    private static func sides(_ resolution: Double) -> [Column] {
        [
            Column("base", rank: 4, "The median of the base \(median)") { $0.baseText(resolution) },
            Column("new", rank: 4, "The same figure of the judged side.") { $0.headText(resolution) },
        ]
    }

    /// The figures of a goal.
    private static func measured(_ resolution: Double) -> [Column] {
        [
            Column("median", rank: 4, "The median of a goal's figure \(median)") { $0.headText(resolution) },
            Column("other", rank: 5, "The same figure of the goal's reference.") { $0.baseText(resolution) },
        ]
    }

    private static let ratios = [
        Column("ratio", rank: 1, "new ÷ base, or a goal's figure ÷ the reference: \(Figure.ratioEstimate).") {
            $0.ratio.map(Quantities.ratio) ?? Quantities.absent
        },
        Column(
            "95 % interval", rank: 2, isJoined: true,
            """
            The ends of the ratio's interval, or of a goal's figure without a reference. The end that a pass depends on \
            has the certainty that the policy's alpha requires.
            """
        ) { $0.interval ?? Quantities.absent },
    ]

    private static let margins = [
        Column(
            "p adjusted", rank: 6, isDetail: true,
            """
            The probability of such a difference between equal sides, adjusted for the number of judged figures (Holm).
            """
        ) { $0.adjustedProbability.map(Quantities.probability) ?? Quantities.absent },
        Column(
            "margin", rank: 3, "The allowed worsening as a part of the figure, or `min_absolute` if that is more."
        ) { $0.threshold.map(Quantities.percent) ?? Quantities.absent },
        Column(
            "detects", rank: 5, isDetail: true,
            "The comparison's power: the worsening that would be reported as a regression 95 times in 100."
        ) { $0.detectable.map(Quantities.percent) ?? Quantities.absent },
    ]

    private static let limit = Column("at most", rank: 3, "A goal's limit, of the ratio or of the figure.") { $0.bound }

    private static let judgement = Column(
        "verdict", isText: true,
        """
        pass, improved or regression, or met or missed of a goal; inconclusive, with the reason; missing if only one side \
        has the figure, or no run has the goal's.
        """
    ) { $0.verdict == .unjudged ? Quantities.absent : $0.verdict.rawValue + ($0.doubt.map { ": \($0.words)" } ?? "") }

    /// The id's first word.
    var workload: Substring { figure.cellID.prefix { $0 != " " } }

    /// The ends of the interval: `0.74–1.09`; nil without one.
    var interval: String? {
        guard let low = ratioLow, let high = ratioHigh else { return nil }
        if ratio != nil { return Quantities.ratioInterval(low, high) }
        return Quantities.interval(low, high, around: head ?? low, of: figure.metric)
    }

    private func baseText(_ resolution: Double) -> String {
        Quantities.figure(base, of: figure.metric, resolution: resolution, beside: head)
    }

    private func headText(_ resolution: Double) -> String {
        Quantities.figure(head, of: figure.metric, resolution: resolution, beside: base)
    }

    /// A goal's limit.
    private var bound: String {
        guard let atMost else { return Quantities.absent }
        guard against.isEmpty else { return Quantities.ratio(atMost) }
        // A bound on a count may be just above a whole number.
        if Metric.named(figure.metric)?.unit == .count { return FigureText.write(atMost) }
        return Quantities.figure(atMost, of: figure.metric, resolution: 0)
    }

    /// Whether the builds that are compared both measured it; false for a goal, and for a figure since a baseline.
    var isOfTwoBuilds: Bool { against.isEmpty && atMost == nil }

    /// The logarithm of the ratio to the bound or the base, whose largest value is the worst; nil without a ratio.
    var excess: Double? { ratio.map { ratio in atMost.map { log(ratio / $0) } ?? abs(log(ratio)) } }

    /// The finding in words, to follow the backend's name: ` uses 32 % more CPU time per operation`.
    func predicate(_ resolution: Double) -> String {
        if atMost != nil {
            guard verdict != .missing else { return "'s \(figureName) was not measured" }
            let figure = ratio.map(Quantities.ratio) ?? headText(resolution)
            return "'s \(figureName) is \(figure); the goal is at most \(bound)"
        }
        guard base != nil, head != nil else {
            return "'s \(figureName) \(base == nil ? "has no base" : "is only in the base")"
        }
        guard let ratio else {
            return "'s \(figureName) changed from \(baseText(resolution)) to \(headText(resolution))"
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

import Glibc
import OpBenchModel

/// Compares two sides figure by figure and judges each by the rule that applies to it.
public struct Comparison: Sendable {
    /// One row for every figure of either side, sorted by cell, backend and metric.
    public let rows: [CompareRow]

    /// The options of a comparison; the defaults require nothing.
    public struct Question: Sendable {
        /// Figures without a rule are not judged.
        var policy: GatePolicy
        /// The baseline that the rules bound drift against; empty for the other rules.
        var baseline = ""
        /// The numbers of blocks at which figures may be judged, if several were declared beforehand.
        var stages: [Int]
        /// Parameters in which matching cells may differ.
        var ignoredParameters: Set<String>
        /// Whether interleaved times that are too noisy on this machine are left unjudged: not while more blocks may
        /// come.
        var leavesNoisyTimes = true

        public init(
            _ policy: GatePolicy = GatePolicy(rules: []), stages: [Int] = [],
            ignoring ignoredParameters: Set<String> = []
        ) {
            (self.policy, self.stages, self.ignoredParameters) = (policy, stages, ignoredParameters)
        }

        func rule(for row: CompareRow) -> FigureRule? {
            var row = row
            row.against = baseline
            return policy.rule(for: row)
        }
    }

    /// Compares two runs, possibly at different times: the sides are independent samples.
    ///
    /// - Throws: `InputError` if two cells of a run are equal without the ignored parameters.
    public init(base: [SampleRow], head: [SampleRow], question: Question = Question()) throws(InputError) {
        rows = try Self.judge(base, head, "", "", question, isPaired: false) { base, head, tails in
            Effect(base: base.replicates, head: head.replicates, tails: tails)
        }
    }

    /// Compares the interleaved sides `base` and `head` of one run: pairs within blocks.
    ///
    /// - Throws: `InputError` if two cells of the run are equal without the ignored parameters.
    public init(sidesOf rows: [SampleRow], question: Question = Question()) throws(InputError) {
        self.rows = try Self.judge(rows, rows, "base", "head", question, isPaired: true) { base, head, tails in
            Effect(pairs: base.pairs(with: head), tails: tails)
        }
    }

    /// Compares two backends of one run of one build: pairs within blocks. The rows have the base's name and no
    /// verdicts.
    public init(backends base: BackendID, _ head: BackendID, of rows: [SampleRow]) throws(InputError) {
        try self.init(
            sidesOf: rows.filter { [base, head].contains($0.backend) }.map { row in
                var row = row
                row.side = (row.backend == base ? Side.base : .head).rawValue
                row.backend = base
                return row
            })
    }

    private typealias Series = CellFigures.Series

    private static func judge(
        _ base: [SampleRow], _ head: [SampleRow], _ baseSide: String, _ headSide: String, _ question: Question,
        isPaired: Bool, effect: (Series, Series, Tails) -> Effect?
    ) throws(InputError) -> [CompareRow] {
        let ignored = question.ignoredParameters
        let base = try CellFigures(rows: base, side: baseSide, ignoring: ignored).distinct(without: ignored)
        let head = try CellFigures(rows: head, side: headSide, ignoring: ignored).distinct(without: ignored)
        let keys = Set(base.series.keys).union(head.series.keys).sorted()
        var candidates = keys.map {
            Candidate(key: $0, base: base.series[$0], head: head.series[$0], isPaired: isPaired)
        }
        for index in candidates.indices { candidates[index].measure(question, effect) }
        // Only figures judged by a p-value count as tests.
        let tested = candidates.indices.filter { candidates[$0].isTested }
        let adjusted = holmAdjusted(tested.map { candidates[$0].effect!.probability! })
        for (index, probability) in zip(tested, adjusted) { candidates[index].row.adjustedProbability = probability }
        let effects = Dictionary(uniqueKeysWithValues: candidates.map { ($0.key, $0.effect) })
        let rows = candidates.map { $0.judged(beside: effects[$0.key.ofCPUTime] ?? nil) }
        return isPaired && question.leavesNoisyTimes ? rows.leavingNoisyTimes() : rows
    }
}

/// A figure that is being judged.
private struct Candidate {
    var row: CompareRow
    let key: CellFigures.Key
    private let base: CellFigures.Series?
    private let head: CellFigures.Series?
    /// Whether both sides ran in the same blocks.
    private let isPaired: Bool
    private let metric: Metric?
    private var rule: FigureRule?
    private(set) var effect: Effect?
    private var margin: Margin?
    /// The judgement of counts; nil for figures that vary.
    private var ofCounts: Judgement?

    init(key: CellFigures.Key, base: CellFigures.Series?, head: CellFigures.Series?, isPaired: Bool) {
        self.key = key
        row = CompareRow(key.name(cellID: head?.cellID ?? base?.cellID ?? ""))
        row.runID = head?.runID ?? ""
        row.blocks = [base, head].compactMap { $0?.valueOfBlock.count }.min()
        self.base = base
        self.head = head
        self.isPaired = isPaired
        metric = Metric.named(key.metric)
    }

    private var direction: Metric.Direction { metric?.direction ?? .lower }
    /// Machines drift between runs at different times. Comparable are figures relative to another in the same block,
    /// and figures that are 0 on one side.
    private var isComparable: Bool {
        isPaired || BaselineRatio.names.contains(row.metric)
            || [base, head].contains { $0?.valueOfBlock.values.allSatisfy { $0 == 0 } ?? false }
    }
    var isTested: Bool { rule != nil && isComparable && effect?.probability != nil }

    mutating func measure(
        _ question: Comparison.Question, _ measure: (CellFigures.Series, CellFigures.Series, Tails) -> Effect?
    ) {
        rule = question.rule(for: row)
        let tails = tails(question.stages)
        if let rule {
            let looks = BlockStages.looks(question.stages, minBlocks: rule.minBlocks)
            self.rule?.alpha /= Double(looks * question.policy.comparisons)
        }
        row.base = base?.centre
        row.head = head?.centre
        row.threshold = rule?.maxRegression
        guard let base, let head else { return }
        if let own = base.counts, let other = head.counts {
            if let from = row.base, let to = row.head, from > 0, to > 0 { row.ratio = to / from }
            guard let (judgement, threshold) = rule?.judgement(ofCounts: own, other) else { return }
            (ofCounts, row.threshold) = (judgement, threshold)
            return
        }
        effect = measure(base, head, tails)
        row.blocks = effect?.blocks ?? row.blocks
        row.ratio = effect?.ratio
        row.ratioLow = effect?.ratioInterval?.lowerBound
        row.ratioHigh = effect?.ratioInterval?.upperBound
        row.probability = effect?.probability
        guard let rule, let effect else { return }
        margin = rule.margin(of: row.base!, on: effect.scale, direction: direction)
        row.threshold = margin?.relativeWorse
    }

    /// The tails of the 95 % interval. If the figure has a rule, the end that must lie within the margin for a pass
    /// uses at most the part of alpha that this stage may spend.
    private func tails(_ stages: [Int]) -> Tails {
        guard let rule else { return .standard }
        let tail = min(0.025, BlockStages.passTail(ofBlocks: row.blocks ?? 0, stages, alpha: rule.alpha))
        return direction == .higher ? Tails(low: tail) : Tails(high: tail)
    }

    /// - Parameter cpuTime: the effect on the CPU time of the same samples.
    func judged(beside cpuTime: Effect?) -> CompareRow {
        var row = row
        guard row.base != nil, row.head != nil else {
            row.verdict = .missing
            return row
        }
        guard let rule else { return row }
        row.take(judgement(by: rule, beside: cpuTime))
        return row
    }

    private func judgement(by rule: FigureRule, beside cpuTime: Effect?) -> Judgement {
        if let ofCounts { return ofCounts }
        guard isComparable else { return .inconclusive(.differentTimes) }
        // Nil if no block has both sides.
        guard let effect, let margin else { return .inconclusive(.tooFewBlocks(0, enough: rule.minBlocks)) }
        let judgement = rule.judgement(
            on: effect, margin: margin, adjustedProbability: row.adjustedProbability, direction: direction)
        return judgement.verdict != .inconclusive && isOfBusyMachine(effect, margin, beside: cpuTime)
            ? .inconclusive(.busyMachine) : judgement
    }

    /// Whether a difference beyond the margin is one of time on a busy machine, which CPU time does not show.
    private func isOfBusyMachine(_ effect: Effect, _ margin: Margin, beside cpuTime: Effect?) -> Bool {
        guard key.isOfWallClock, [base, head].contains(where: { $0?.isOfBusyMachine ?? false }),
            let interval = effect.interval
        else { return false }
        let bounds = -margin.better...margin.worse
        let worsening = direction == .higher ? -interval.upperBound...(-interval.lowerBound) : interval
        guard let side = worsening.side(of: bounds) else { return false }
        return effect.scale != cpuTime?.scale || cpuTime?.interval?.side(of: bounds) != side
    }
}

extension CompareRow {
    /// The worsening that a comparison with an interval of this width reports as a regression 95 times in 100: the
    /// interval's near end still lies beyond the margin if the estimate is 1.64 deviations below its mean. Nil if no
    /// interval is judged.
    public var detectable: Double? {
        guard let threshold, let ratio, let low = ratioLow, let high = ratioHigh, low > 0 else { return nil }
        let toNearEnd = Metric.named(figure.metric)?.direction == .higher ? log(high / ratio) : log(ratio / low)
        return exp(log(1 + threshold) + toNearEnd * (1 + 1.645 / 1.96)) - 1
    }

    /// The greatest worsening that may have gone unseen: the greater of the one that the interval includes and the one
    /// that comparisons with such an interval detect. Nil if neither is known.
    public var mostUnseen: Double? {
        guard let detectable, let low = ratioLow, let high = ratioHigh else { return nil }
        return max(detectable, (Metric.named(figure.metric)?.direction == .higher ? 1 / low : high) - 1)
    }

    /// Whether the whole interval of a pass is beyond the margin on the good side. More blocks may show an improvement.
    var mayBeImproved: Bool {
        guard verdict == .pass, let threshold, let low = ratioLow, let high = ratioHigh else { return false }
        return Metric.named(figure.metric)?.direction == .higher ? low > 1 + threshold : high < 1 / (1 + threshold)
    }
}

import OpBenchModel

/// The counts of one cell, backend and side: of one round, one for each sample, as the sampler read them.
///
/// They are compared before they are divided by the operations: whole numbers are exact, quotients differ in their last
/// digits.
struct RoundCounts {
    let metric: Metric
    /// The number of operations in the round.
    let operations: Double
    let values: [Double]

    /// - Parameter samples: at least one sample's count, each with the operations of its round.
    /// - Returns: nil for figures that vary.
    init?(_ metric: Metric, _ samples: [(value: Double, operations: Double)]) {
        guard metric.isDeterministic else { return nil }
        self.init(metric, samples, for: samples[0].operations)
    }

    private init(_ metric: Metric, _ samples: [(value: Double, operations: Double)], for operations: Double) {
        (self.metric, self.operations) = (metric, operations)
        values = samples.map { $0.value * (operations / $0.operations) }
    }

    /// The least count that two samples agree on; nil if no two do.
    var agreed: Double? { metric.leastAgreed(values) }

    /// The counts for as many operations: the same, unless cells with different parameters are compared.
    func scaled(to operations: Double) -> RoundCounts {
        RoundCounts(metric, values.map { ($0, self.operations) }, for: operations)
    }
}

extension FigureRule {
    /// The judgement of counts on two sides, by the least that two samples of each side agree on.
    ///
    /// A sample counts what the operations need, and what came by chance, such as a thread that began within the round.
    /// So the least count is the build's own if a second sample confirms it. A side scatters if some sample is further
    /// from that count than the margin. Then two samples may have agreed on it by chance, and a difference needs more
    /// samples: scatter never widens the margin.
    ///
    /// | two samples agree | their counts differ | a side scatters | verdict |
    /// | --- | --- | --- | --- |
    /// | on both sides | within the margin | either way | pass |
    /// | on both sides | beyond it | no | regression, improved |
    /// | on both sides | beyond it | yes | inconclusive |
    /// | not on both | | | inconclusive |
    ///
    /// - Returns: also the margin relative to the base's count, which is the greatest of the rule's two and the slack of
    ///   counts of one build; nil if the base's count is 0.
    func judgement(ofCounts base: RoundCounts, _ head: RoundCounts) -> (judgement: Judgement, threshold: Double?) {
        let (metric, base) = (head.metric, base.scaled(to: head.operations))
        let fewest = Swift.min(base.values.count, head.values.count)
        let more = Swift.min(Swift.max(2 * fewest, minBlocks), BlockStages.standard.last!)
        let scatter = Judgement.inconclusive(.scatter(blocks: fewest, enough: more > fewest ? more : nil))
        // A single count has no other count to agree with.
        if fewest < 2 { return (.inconclusive(.tooFewBlocks(fewest, enough: 2)), maxRegression) }
        guard let own = base.agreed, let other = head.agreed else { return (scatter, maxRegression) }
        let margin = Margin(
            relative: maxRegression, absolute: Swift.max(minAbsolute * head.operations, metric.slack(of: own) ?? 0),
            of: own, on: .difference, direction: metric.direction)
        // The product of a whole number and a fraction may be too small by its last digit.
        let most = margin.worse * (1 + 1e-12)
        let worsening = metric.direction == .higher ? own - other : other - own
        func scatters(_ side: RoundCounts, _ agreed: Double) -> Bool {
            side.values.contains { ($0 - agreed).magnitude > most }
        }
        if worsening.magnitude <= most { return (Judgement(verdict: .pass), margin.relativeWorse) }
        if scatters(base, own) || scatters(head, other) { return (scatter, margin.relativeWorse) }
        return (Judgement(verdict: worsening > 0 ? .regression : .improved), margin.relativeWorse)
    }
}

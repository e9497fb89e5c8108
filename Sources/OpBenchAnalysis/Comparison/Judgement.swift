import OpBenchModel

/// What is said of one figure: a verdict, and of one that is inconclusive the reason.
struct Judgement: Equatable {
    var verdict: Verdict
    var doubt: Doubt?

    static func inconclusive(_ doubt: Doubt) -> Judgement { Judgement(verdict: .inconclusive, doubt: doubt) }
}

extension FigureRule {
    /// The verdict on counts of which two of each side agree: a worsening beyond the margin is a regression, on any
    /// machine.
    ///
    /// - Parameter margin: on the scale of differences.
    func verdictOfExactFigures(base: Double, head: Double, margin: Margin, direction: Metric.Direction) -> Verdict {
        let worsening = direction == .higher ? base - head : head - base
        return worsening > margin.worse ? .regression : worsening < -margin.better ? .improved : .pass
    }

    /// The margin in force: the greatest of the part that the rule allows, the amount that it allows, and the
    /// difference that the host cannot distinguish from noise.
    ///
    /// - Parameter slack: how far counts of one build may differ.
    func margin(
        of base: Double, on scale: Effect.Scale, direction: Metric.Direction, noiseFloor: Double?, slack: Double? = nil
    ) -> Margin {
        Margin(
            relative: Swift.max(maxRegression, noiseFloor ?? 0), absolute: Swift.max(minAbsolute, slack ?? 0),
            of: base, on: scale, direction: direction)
    }

    /// The judgement of figures that vary.
    ///
    /// A regression has the near end of its interval beyond the margin, an adjusted p-value below alpha, and enough
    /// blocks. An improvement needs the same on the good side. A pass has its whole interval on this side of the
    /// margin, however much better it may be. Everything else is inconclusive: missing data never make a pass.
    func judgement(
        on effect: Effect, margin: Margin, adjustedProbability: Double?, direction: Metric.Direction
    ) -> Judgement {
        let blocks = effect.blocks
        guard let interval = effect.interval else {
            return .inconclusive(.tooFewBlocks(blocks, enough: Swift.max(minBlocks, effect.fewestBlocks)))
        }
        // Worse is always greater here: a rate, which is worse when it falls, is inverted.
        let isRate = direction == .higher
        let (low, high) =
            isRate ? (-interval.upperBound, -interval.lowerBound) : (interval.lowerBound, interval.upperBound)
        let uncertainty = uncertainty(of: effect, adjustedProbability)
        if high < -margin.better, uncertainty == nil { return Judgement(verdict: .improved) }
        if high <= margin.worse { return Judgement(verdict: .pass) }
        guard low > margin.worse else {
            let clearing = blocksToClear(
                margin.worse, low: low, centre: isRate ? -effect.shift : effect.shift, high: high, blocks: blocks,
                most: effect.mostBlocks)
            // From so few, no more can be foretold than what the rule takes.
            let enough = clearing.map { Swift.max($0, minBlocks) } ?? (blocks < minBlocks ? minBlocks : nil)
            return .inconclusive(.wideInterval(blocks: blocks, enough: enough))
        }
        return uncertainty.map(Judgement.inconclusive) ?? Judgement(verdict: .regression)
    }

    /// Why a difference is not certain enough to be called a regression or an improvement; nil if it is.
    private func uncertainty(of effect: Effect, _ adjustedProbability: Double?) -> Doubt? {
        let blocks = effect.blocks
        guard blocks >= minBlocks else { return .tooFewBlocks(blocks, enough: minBlocks) }
        guard let adjustedProbability else { return .tooManyBlocks(blocks, most: effect.mostBlocks) }
        guard adjustedProbability >= alpha else { return nil }
        let more = Swift.min(2 * blocks, effect.mostBlocks)
        return .likelyChance(blocks: blocks, enough: more > blocks ? more : nil)
    }
}

/// How many blocks are likely to bring the whole interval to one side of a bound, if the figures stay as they are: its
/// width falls with the root of their number. Nil for more than `most`.
///
/// - Parameters:
///   - bound: on a scale on which differences count, like the estimate and the ends of its interval.
///   - low, centre, high: the interval around the estimate, which hold the bound between them.
///   - blocks: that the interval is of.
func blocksToClear(
    _ bound: Double, low: Double, centre: Double, high: Double, blocks: Int, most: Int
) -> Int? {
    let (reach, distance) =
        centre <= bound ? (high - centre, bound - centre) : (centre - low, centre - bound)
    let needed = Double(blocks) * (reach / distance) * (reach / distance)
    guard distance > 0, needed.isFinite, needed <= Double(most) else { return nil }
    // An error in the last digits of the logarithms must not add a block.
    return Swift.max(blocks + 1, Int((needed * (1 - 1e-9)).rounded(.up)))
}

import OpBenchModel

/// The judgement of one figure: a verdict and, if it is inconclusive, the reason.
struct Judgement: Equatable {
    var verdict: Verdict
    var doubt: Doubt?

    static func inconclusive(_ doubt: Doubt) -> Judgement { Judgement(verdict: .inconclusive, doubt: doubt) }
}

extension CompareRow {
    mutating func take(_ judgement: Judgement) { (verdict, doubt) = (judgement.verdict, judgement.doubt) }
}

extension FigureRule {
    /// The margin in force: the greater of the rule's relative and absolute margins.
    func margin(of base: Double, on scale: Effect.Scale, direction: Metric.Direction) -> Margin {
        Margin(relative: maxRegression, absolute: minAbsolute, of: base, on: scale, direction: direction)
    }

    /// The judgement of figures that vary.
    ///
    /// A regression has the near end of its interval beyond the margin, an adjusted p-value below alpha, and enough
    /// blocks. An improvement needs the same on the other side. A pass has its whole interval within the margin,
    /// however much better it may be. Everything else is inconclusive: missing data never make a pass.
    func judgement(
        on effect: Effect, margin: Margin, adjustedProbability: Double?, direction: Metric.Direction
    ) -> Judgement {
        let blocks = effect.blocks
        guard let interval = effect.interval else {
            return .inconclusive(.tooFewBlocks(blocks, enough: Swift.max(minBlocks, effect.fewestBlocks)))
        }
        // Greater is always worse here: a rate, which is worse when it falls, is inverted.
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
            // With so few blocks, only the rule's minimum can be predicted.
            let enough = clearing.map { Swift.max($0, minBlocks) } ?? (blocks < minBlocks ? minBlocks : nil)
            return .inconclusive(.wideInterval(blocks: blocks, enough: enough))
        }
        return uncertainty.map(Judgement.inconclusive) ?? Judgement(verdict: .regression)
    }

    /// The reason why a difference is not certain enough for a regression or an improvement; nil if it is.
    private func uncertainty(of effect: Effect, _ adjustedProbability: Double?) -> Doubt? {
        let blocks = effect.blocks
        guard blocks >= minBlocks else { return .tooFewBlocks(blocks, enough: minBlocks) }
        guard let adjustedProbability else { return .tooManyBlocks(blocks, most: effect.mostBlocks) }
        guard adjustedProbability >= alpha else { return nil }
        let more = Swift.min(2 * blocks, effect.mostBlocks)
        return .likelyChance(blocks: blocks, enough: more > blocks ? more : nil)
    }
}

/// The number of blocks that is likely to bring the whole interval to one side of a bound, if the figures stay as they
/// are: its width falls with the square root of that number. Nil if it exceeds `most`.
///
/// - Parameters:
///   - bound: on an additive scale, like the estimate and the ends of its interval.
///   - low, centre, high: the interval around the estimate, which includes the bound.
///   - blocks: the number of blocks behind the interval.
func blocksToClear(
    _ bound: Double, low: Double, centre: Double, high: Double, blocks: Int, most: Int
) -> Int? {
    let (reach, distance) =
        centre <= bound ? (high - centre, bound - centre) : (centre - low, centre - bound)
    let needed = Double(blocks) * (reach / distance) * (reach / distance)
    guard distance > 0, needed.isFinite, needed <= Double(most) else { return nil }
    // A rounding error of the logarithms must not add a block.
    return Swift.max(blocks + 1, Int((needed * (1 - 1e-9)).rounded(.up)))
}

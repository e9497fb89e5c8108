import Glibc
import OpBenchModel

/// What is said of one figure: a verdict, and of one that is inconclusive the reason.
struct Judgement: Equatable {
    var verdict: Verdict
    var doubt: Doubt?

    static func inconclusive(_ doubt: Doubt) -> Judgement { Judgement(verdict: .inconclusive, doubt: doubt) }
}

extension FigureRule {
    /// The rule for figures that barely vary: any worsening beyond the bounds is a regression, on any machine.
    func verdictOfExactFigures(base: Double, head: Double, direction: Metric.Direction) -> Verdict {
        let worsening = direction == .higher ? base - head : head - base
        let allowed = Swift.max(minAbsolute ?? 0, maxRegression * base.magnitude)
        return worsening > allowed ? .regression : worsening < -allowed ? .improved : .pass
    }

    /// The margin in force: the greater of what the rule allows and what the host cannot tell from noise.
    func margin(noiseFloor: Double?) -> Double { Swift.max(maxRegression, noiseFloor ?? 0) }

    /// The judgement of figures that vary.
    ///
    /// A regression has the near end of its interval beyond the margin, an adjusted p-value below alpha, blocks enough,
    /// and an absolute difference worth the name. A pass has its whole interval on this side of the margin; an
    /// improvement beyond it on the good side. All else is inconclusive: never a pass for want of data.
    ///
    /// - Parameter worsening: by how much the middle figure got worse, in the metric's unit.
    func judgement(
        on effect: Effect, adjustedProbability: Double?, worsening: Double, direction: Metric.Direction,
        noiseFloor: Double?
    ) -> Judgement {
        let blocks = effect.blocks
        guard let interval = effect.interval else {
            return .inconclusive(.tooFewBlocks(blocks, enough: Swift.max(minBlocks, minimumForInterval)))
        }
        let worst = 1 + margin(noiseFloor: noiseFloor)
        // As "how many times worse": a rate that falls is turned over.
        let isRate = direction == .higher
        let (low, high) =
            isRate ? (1 / interval.upperBound, 1 / interval.lowerBound) : (interval.lowerBound, interval.upperBound)
        if high < 1 / worst { return Judgement(verdict: .improved) }
        if high <= worst { return Judgement(verdict: .pass) }
        guard low > worst else {
            let centre = isRate ? 1 / effect.ratio : effect.ratio
            let clearing = blocksToClear(
                worst, low: low, centre: centre, high: high, blocks: blocks, most: effect.mostBlocks)
            // From so few, no more can be foretold than what the rule takes.
            let enough = clearing.map { Swift.max($0, minBlocks) } ?? (blocks < minBlocks ? minBlocks : nil)
            return .inconclusive(.wideInterval(blocks: blocks, enough: enough))
        }
        if worsening < minAbsolute ?? 0 { return Judgement(verdict: .pass) }
        guard blocks >= minBlocks else { return .inconclusive(.tooFewBlocks(blocks, enough: minBlocks)) }
        guard let adjustedProbability else { return .inconclusive(.tooManyBlocks(blocks, most: effect.mostBlocks)) }
        guard adjustedProbability < alpha else {
            let more = Swift.min(2 * blocks, effect.mostBlocks)
            return .inconclusive(.likelyChance(blocks: blocks, enough: more > blocks ? more : nil))
        }
        return Judgement(verdict: .regression)
    }

    /// The judgement where one side has no figure above zero, so that nothing can be divided: by the difference.
    ///
    /// - Parameter blocks: of the smaller side.
    func judgementWithoutRatio(worsening: Double, blocks: Int) -> Judgement {
        guard blocks >= minimumForInterval else {
            return .inconclusive(.tooFewBlocks(blocks, enough: Swift.max(minBlocks, minimumForInterval)))
        }
        return worsening < minAbsolute ?? 0 ? Judgement(verdict: .pass) : .inconclusive(.noRatio)
    }
}

/// How many blocks are likely to bring the whole interval to one side of a bound, if the figures stay as they are: its
/// width falls with the root of their number. Nil for more than `most`.
///
/// - Parameters:
///   - bound: as the estimate and the ends of its interval: how many times worse, a ratio, or a figure.
///   - low, centre, high: the interval around the estimate, which hold the bound between them.
///   - blocks: that the interval is of.
func blocksToClear(
    _ bound: Double, low: Double, centre: Double, high: Double, blocks: Int, most: Int
) -> Int? {
    let (reach, distance) =
        centre <= bound ? (log(high / centre), log(bound / centre)) : (log(centre / low), log(centre / bound))
    let needed = Double(blocks) * (reach / distance) * (reach / distance)
    guard distance > 0, needed.isFinite, needed <= Double(most) else { return nil }
    return Swift.max(blocks + 1, Int(needed.rounded(.up)))
}

import OpBenchModel

extension FigureRule {
    /// The rule for figures that barely vary: any worsening beyond the bounds is a regression, on any machine.
    func verdictOfExactFigures(base: Double, head: Double, direction: Metric.Direction) -> Verdict {
        let worsening = direction == .higher ? base - head : head - base
        let allowed = Swift.max(minAbsolute, maxRegression * base.magnitude)
        return worsening > allowed ? .regression : worsening < -allowed ? .improved : .pass
    }

    /// The margin in force: the greater of what the rule allows and what the host cannot tell from noise.
    func margin(noiseFloor: Double?) -> Double { Swift.max(maxRegression, noiseFloor ?? 0) }

    /// The verdict on figures that vary.
    ///
    /// A regression has the near end of its interval beyond the margin, an adjusted p-value below alpha, blocks enough,
    /// and an absolute difference worth the name. A pass has its whole interval on this side of the margin; an
    /// improvement beyond it on the good side. All else is inconclusive: never a pass for want of data.
    func verdict(
        on effect: Effect, adjustedProbability: Double?, worsening: Double, direction: Metric.Direction,
        noiseFloor: Double?
    ) -> Verdict {
        guard let interval = effect.interval else { return .inconclusive }
        let worst = 1 + margin(noiseFloor: noiseFloor)
        // As "how many times worse": a rate that falls is turned over.
        let (low, high) =
            direction == .higher
            ? (1 / interval.upperBound, 1 / interval.lowerBound) : (interval.lowerBound, interval.upperBound)
        if high < 1 / worst { return .improved }
        if high <= worst { return .pass }
        guard low > worst else { return .inconclusive }
        if worsening < minAbsolute { return .pass }
        let isCertain = adjustedProbability.map { $0 < alpha } ?? false
        return isCertain && effect.blocks >= minBlocks ? .regression : .inconclusive
    }
}

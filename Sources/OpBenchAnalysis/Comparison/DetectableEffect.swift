import Glibc
import OpBenchModel

extension CompareRow {
    /// The worsening that a comparison whose interval is as wide as this one's calls a regression 95 times in 100, or
    /// nil where none is judged by its interval: the interval's near end, 1.64 deviations of the estimate below what it
    /// is on the average, still lies beyond the margin.
    public var detectable: Double? {
        guard let threshold, let ratio, let low = ratioLow, let high = ratioHigh, low > 0,
            Metric.named(figure.metric)?.isDeterministic != true
        else { return nil }
        let toNearEnd = Metric.named(figure.metric)?.direction == .higher ? log(high / ratio) : log(ratio / low)
        return exp(log(1 + threshold) + toNearEnd * (1 + 1.645 / 1.96)) - 1
    }

    /// The greatest worsening that may have gone unseen: the one that the interval allows, or the one that comparisons
    /// with such an interval detect, if that is greater. Nil if neither is known.
    public var mostUnseen: Double? {
        guard let detectable, let low = ratioLow, let high = ratioHigh else { return nil }
        return max(detectable, (Metric.named(figure.metric)?.direction == .higher ? 1 / low : high) - 1)
    }

    /// Whether the rule's threshold was below what this host can tell from noise.
    public var isRaisedToFloor: Bool { threshold != nil && threshold == noiseFloor }

    /// Whether the whole interval of a pass is beyond the margin on the good side. More blocks may show an improvement.
    var mayBeImproved: Bool {
        guard verdict == .pass, let threshold, let low = ratioLow, let high = ratioHigh else { return false }
        return Metric.named(figure.metric)?.direction == .higher ? low > 1 + threshold : high < 1 / (1 + threshold)
    }
}

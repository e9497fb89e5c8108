import Glibc
import OpBenchModel

// Verdicts on wall-clock times of a busy machine. Such a time includes the wait for a processor: who of two sides gets
// the processors that other programs leave decides it, and is no property of either. CPU time excludes that wait.
//
// If the machine was busy during most samples of a cell, a difference of time is shown only if the interval of CPU time
// lies beyond the same bound on the same side. Equal sides fail both conditions no more often than one of them, and the
// rule is the same on either side of the bound, so it favours neither. What it leaves out is a side that waits longer
// for something else than a processor, which needs a quieter machine; cells that are about waiting are excepted.

extension CellFigures.Key {
    /// Whether the figure includes the wait for a processor.
    var isOfWallClock: Bool {
        (BaselineRatio(rawValue: name.metric)?.metric ?? Metric.named(name.metric))?.isOfWallClock ?? false
    }

    /// The CPU time of all operations, relative to the same backend if the figure is a ratio.
    var ofCPUTime: CellFigures.Key {
        var key = self
        key.metric = BaselineRatio(rawValue: name.metric) == nil ? Metric.cpuTime.name : BaselineRatio.cpuTime.rawValue
        (key.phase, key.operationClass, key.stat) = (BaselineRatio.cpuTime.phase, "", "total")
        return key
    }
}

extension ClosedRange<Double> {
    /// The side on which the whole interval lies beyond the bounds; nil if it reaches between them.
    func side(of bounds: ClosedRange<Double>) -> FloatingPointSign? {
        lowerBound > bounds.upperBound ? .plus : upperBound < bounds.lowerBound ? .minus : nil
    }
}

extension [CompareRow] {
    /// Leaves wall-clock times unjudged if the machine is too noisy for their margin and CPU time is judged as well.
    /// CPU time excludes the wait for a processor.
    ///
    /// A time with a worsening, in its interval or by an estimate beyond the margin, stays inconclusive: more blocks
    /// may decide it.
    func leavingNoisyTimes() -> [CompareRow] {
        let judged = filter { $0.metric == Metric.cpuTime.name && $0.verdict != .unjudged && $0.verdict != .missing }
        let covered = Set(judged.map(\.place))
        return map { row in
            guard row.metric == Metric.time.name, row.isTooNoisyForMargin, covered.contains(row.place) else {
                return row
            }
            var row = row
            (row.verdict, row.doubt) = (.unjudged, nil)
            return row
        }
    }
}

extension CompareRow {
    fileprivate var place: [String] { [figure.cellID, figure.backend.rawValue, figure.phase] }

    /// Whether equal sides with an interval of this width would not pass, and the figure shows no worsening.
    fileprivate var isTooNoisyForMargin: Bool {
        guard verdict == .inconclusive, case .wideInterval = doubt, let threshold, let ratio, let low = ratioLow,
            low > 0, let high = ratioHigh
        else { return false }
        return ratio <= 1 + threshold && low <= 1 && log(high / ratio) > log(1 + threshold)
    }
}

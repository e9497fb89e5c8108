import Glibc
import OpBenchModel

extension [CompareRow] {
    /// Leaves times on the clock unjudged where the machine is too noisy for their margin and CPU time is judged in
    /// their place. CPU time does not include the wait for a processor.
    ///
    /// A time that shows a worsening, by its interval or by an estimate beyond the margin, stays open: more blocks may
    /// settle it.
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
    /// The cell, the backend and the phase.
    fileprivate var place: [String] { [figure.cellID, figure.backend.rawValue, figure.phase] }

    /// Whether equal sides with an interval of this width would not pass, and the figure shows no worsening.
    fileprivate var isTooNoisyForMargin: Bool {
        guard verdict == .inconclusive, case .wideInterval = doubt, let threshold, let ratio, let low = ratioLow,
            low > 0, let high = ratioHigh
        else { return false }
        return ratio <= 1 + threshold && low <= 1 && log(high / ratio) > log(1 + threshold)
    }
}

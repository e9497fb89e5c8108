import Glibc
import OpBenchModel

/// The regression between the ends of a history whose cause is searched: one figure, and the rule that divides the
/// commits between into good and bad ones.
public struct SearchedChange: Sendable {
    /// The figure at the ends of the history.
    public let row: CompareRow

    /// The regression that is furthest from chance: its interval's near end shows the greatest worsening. Nil without a
    /// regression.
    ///
    /// - Parameter rows: the good end compared with the bad one.
    public init?(in rows: [CompareRow]) {
        let regressions = rows.filter { $0.verdict == .regression }
        guard let clearest = regressions.max(by: { $0.leastWorsening < $1.leastWorsening }) else { return nil }
        row = clearest
    }

    /// Judges this figure alone. The margin is half of the change, on the logarithmic scale of ratios: a commit with
    /// less is good, one with more is bad.
    public var policy: GatePolicy {
        var selector = GatePolicy.Selector()
        (selector.cell, selector.backend, selector.metric) = (row.cellID, row.backend.rawValue, row.metric)
        (selector.phase, selector.stat, selector.operationClass) = (row.phase, row.stat, row.operationClass)
        let rule =
            row.worsening.map { FigureRule(maxRegression: $0.squareRoot() - 1) }
            ?? FigureRule(maxRegression: 0, minAbsolute: (row.difference ?? 0) / 2)
        return GatePolicy(rules: [.init(selector, rule)])
    }

    /// The judgement of one commit.
    public struct Judged: Sendable {
        public let row: CompareRow
        public let verdict: Bisection.Verdict
        /// Whether the interval lies on one side of the margin. Otherwise the estimate decides.
        public let isCertain: Bool
    }

    /// The judgement of the bad end.
    public var ends: Judged { Judged(row: row, verdict: .bad, isCertain: true) }

    /// - Parameter rows: the comparison of the good end with a commit, by `policy`.
    /// - Returns: nil if the commit has no such figure.
    public func judged(by rows: [CompareRow]) -> Judged? {
        guard let row = rows.first(where: { $0.figure == self.row.figure }) else { return nil }
        switch row.verdict {
        case .regression: return Judged(row: row, verdict: .bad, isCertain: true)
        case .pass, .improved: return Judged(row: row, verdict: .good, isCertain: true)
        case .inconclusive:
            guard let part = part(in: row) else { return nil }
            return Judged(row: row, verdict: part > 0.5 ? .bad : .good, isCertain: false)
        case .missing, .unjudged, .met, .missed: return nil
        }
    }

    /// The part of the change that the estimate shows, on the logarithmic scale of ratios if there are any; nil without
    /// an estimate.
    public func part(in row: CompareRow) -> Double? {
        if let whole = self.row.worsening, let part = row.worsening { return log(part) / log(whole) }
        if let whole = self.row.difference, let part = row.difference { return part / whole }
        return nil
    }
}

extension CompareRow {
    private var isRate: Bool { figure.direction == .higher }

    /// The ratio by which the figure got worse, also if less is worse; nil without a ratio.
    public var worsening: Double? {
        ratio.flatMap { ratio in ratio > 0 ? (isRate ? 1 / ratio : ratio) : nil }
    }

    /// The end of the interval with the least worsening; the estimate if there is no interval, as for a count. A rise
    /// from 0 has no ratio and is the greatest.
    fileprivate var leastWorsening: Double {
        let end = isRate ? ratioHigh.map { 1 / $0 } : ratioLow
        return end ?? worsening ?? .infinity
    }

    /// The difference of the medians, above 0 if the figure got worse.
    fileprivate var difference: Double? {
        guard let base, let head else { return nil }
        return isRate ? base - head : head - base
    }
}

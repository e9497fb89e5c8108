import Glibc
import OpBenchModel

/// The sources of the variance of a figure that two interleaved sides share, on the scale of logarithms.
///
/// In block b, the figure of a side that runs layout k is the side's mean, plus the block's drift, plus the layout's
/// effect, plus the process's own, all independent. The difference d of both sides in a block has no drift. Between
/// blocks of one layout it varies by the processes alone, between layouts by both, so that with n blocks of each layout
///
///     V(process) = MSW ÷ 2                V(layout) = (MSB − MSW) ÷ 2n                V(block) = Cov(base, head)
///
/// where MSW and MSB are the mean squares of d within and between layouts (analysis of variance, estimates by the method
/// of moments: Searle, Casella and McCulloch, Variance Components, 1992, sections 3.6 and 4.3, also for unequal n). An
/// estimate below zero counts as zero.
public struct VarianceComponents: Sendable, Equatable {
    /// Between processes of one layout, without the part of the rounds.
    public var processes: Double
    /// Between the rounds of a process, as its mean still shows them; nil if unknown.
    public var rounds: Double?
    /// Between blocks: the drift that both sides share, and that pairs do not see.
    public var blocks: Double
    /// Between layouts; nil if no layout was used in two blocks, or if there was one alone.
    public var layouts: Double?

    /// A source that the ratio of a block includes, with its remedy.
    public enum Source: Sendable, CaseIterable {
        case rounds, processes, layouts
    }

    /// The variance of a source; nil if unknown.
    public func variance(of source: Source) -> Double? {
        switch source {
        case .rounds: rounds
        case .processes: processes
        case .layouts: layouts
        }
    }

    /// - Parameters:
    ///   - roundVariance: the variance of a process's mean due to its rounds.
    /// - Returns: nil with fewer than `minimumForInterval` blocks, or if some figure is not above zero.
    init?(pairs: [(base: Double, head: Double, unit: Int)], roundVariance: Double? = nil) {
        guard pairs.count >= minimumForInterval,
            pairs.allSatisfy({ $0.base > 0 && $0.head > 0 && $0.base.isFinite && $0.head.isFinite })
        else { return nil }
        let (base, head) = (pairs.map { log($0.base) }, pairs.map { log($0.head) })
        let differences = zip(base, head).map { $1 - $0 }
        let groups = Dictionary(grouping: zip(pairs.map(\.unit), differences), by: \.0).mapValues { $0.map(\.1) }
        let count = Double(pairs.count)
        let withinDegrees = count - Double(groups.count)
        let within: Double
        if withinDegrees > 0, groups.count > 1 {
            within = groups.values.map { squaredDeviations($0) }.reduce(0, +) / withinDegrees
            let centre = mean(differences)
            let between =
                groups.values.map { group in
                    let distance = mean(group) - centre
                    return Double(group.count) * distance * distance
                }.reduce(0, +) / Double(groups.count - 1)
            let size =
                (count - groups.values.map { Double($0.count * $0.count) }.reduce(0, +) / count)
                / Double(groups.count - 1)
            layouts = max(0, (between - within) / (2 * size))
        } else {
            within = squaredDeviations(differences) / (count - 1)
        }
        let (centreOfBase, centreOfHead) = (mean(base), mean(head))
        let covariance =
            zip(base, head).map { ($0 - centreOfBase) * ($1 - centreOfHead) }.reduce(0, +) / (count - 1)
        blocks = max(0, covariance)
        rounds = roundVariance.map { min($0, within / 2) }
        processes = within / 2 - (rounds ?? 0)
    }
}

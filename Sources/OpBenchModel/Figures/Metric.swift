/// A figure that samples report, declared once: its name in rows, unit and direction, whether it barely varies, and how
/// the figures of several samples are aggregated. `Metric.catalogue` holds all metrics.
public struct Metric: Sendable, Hashable {
    public enum Direction: String, Sendable { case higher, lower, neutral }
    public enum Unit: String, Sendable {
        case nanoseconds = "ns"
        case bytes = "B"
        case perSecond = "1/s"
        case count
        case ratio = "1"
    }
    /// The aggregation of samples. The median resists a disturbed sample; a peak is a bound that was never exceeded.
    public enum Aggregation: String, Sendable { case median, maximum }
    /// The divisor of a sample's figure before samples are compared: they differ in how often they ran the plan.
    public enum Basis: String, Sendable { case sample, operation, round }
    /// The largest difference between counts that agree: those of one round, of one build.
    public enum Slack: Sendable, Hashable {
        /// In the metric's unit, whatever the number of operations. A thread that begins late, or memory that grows in
        /// steps, adds some allocations.
        case absolute(Double)
        /// As a part of the count. How threads take turns changes what they execute.
        case relative(Double)
    }

    public let name: String
    /// The kinds of sample that report the metric.
    public private(set) var kinds: Set<SampleKind> = [.throughput]
    public let unit: Unit
    public let direction: Direction
    /// Nil for figures that vary.
    public private(set) var slack: Slack?
    /// True for counts, which usually barely vary from sample to sample; `leastAgreed(_:)` decides for a cell's counts.
    public var isDeterministic: Bool { slack != nil }
    public private(set) var aggregation = Aggregation.median
    public private(set) var basis = Basis.sample
    /// Whether a figure can be below 0.
    public private(set) var isSigned = false
    /// One line for people.
    public let summary: String

    /// The magnitudes of figures other than 0. Ratios of their ratios are still finite, and no clock or counter comes
    /// near.
    private static let magnitudes = 1e-60...1e60

    /// Whether a sample can have measured the figure.
    public func allows(_ figure: Double) -> Bool {
        (isSigned || figure.sign == .plus) && (figure == 0 || Self.magnitudes.contains(figure.magnitude))
    }

    /// The figures that a sample can have measured, in words.
    var allowed: String { isSigned ? "0, or from 1e-60 to 1e60 or the same below 0" : "0, or from 1e-60 to 1e60" }

    /// The slack of a sample's count, in the metric's unit; nil for figures that vary.
    public func slack(of count: Double) -> Double? {
        switch slack {
        case .absolute(let difference): difference
        case .relative(let part): part * count
        case nil: nil
        }
    }

    /// The least count that two samples of a build agree on: they are equal within the slack. Nil if no two are.
    ///
    /// - Parameter counts: as the sampler read them, of one round.
    public func leastAgreed(_ counts: [Double]) -> Double? {
        let ascending = counts.sorted()
        return zip(ascending, ascending.dropFirst()).first { $1 - $0 <= slack(of: $0) ?? 0 }?.0
    }

    /// The aggregation of one `stat`; a `max` takes the maximum, whatever the metric.
    public func aggregation(ofStat stat: String) -> Aggregation { stat == "max" ? .maximum : aggregation }
}

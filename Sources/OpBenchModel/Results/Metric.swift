/// A figure that opbench reports, declared once: its name in rows, unit and direction, whether it barely varies, and
/// how the figures of several samples become one. `Metric.catalogue` holds them all.
public struct Metric: Sendable, Hashable {
    public enum Direction: String, Sendable { case higher, lower, neutral }
    public enum Unit: String, Sendable {
        case nanoseconds = "ns"
        case bytes = "B"
        case perSecond = "1/s"
        case count
        case ratio = "1"
    }
    /// How samples are summarised. The middle one resists a disturbed sample; a peak is what never was exceeded.
    public enum Aggregation: String, Sendable { case median, maximum }
    /// What a sample's figure is divided by before samples are compared: they differ in how often they ran the plan.
    public enum Basis: String, Sendable { case sample, operation, round }

    public let name: String
    public let unit: Unit
    public let direction: Direction
    /// True for counts that barely vary from sample to sample.
    public let isDeterministic: Bool
    /// What equal sides may differ by, in the metric's unit per operation or round: threads that are made when they are
    /// needed, and memory that grows in steps, differ from run to run. Nil where nothing is known.
    public let slack: Double?
    public let aggregation: Aggregation
    public let basis: Basis
    /// One line for people.
    public let summary: String

    public init(
        name: String, unit: Unit, direction: Direction, isDeterministic: Bool = false, slack: Double? = nil,
        aggregation: Aggregation = .median, per basis: Basis = .sample, summary: String
    ) {
        self.name = name
        self.unit = unit
        self.direction = direction
        self.isDeterministic = isDeterministic
        self.slack = slack
        self.aggregation = aggregation
        self.basis = basis
        self.summary = summary
    }

    /// How the samples' figures of one `stat` become one: `max` is the greatest of all, whatever the metric.
    public func aggregation(ofStat stat: String) -> Aggregation { stat == "max" ? .maximum : aggregation }
}

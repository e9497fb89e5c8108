/// How many of the samples behind a figure are to be read with care, by their flags. Of a sample that was run again, the
/// repetition counts.
public struct SampleQuality: Sendable, Hashable {
    /// All samples with figures, of any kind.
    public var samples: Int
    /// Something else used the machine meanwhile.
    public var noisy: Int
    /// How many samples are of a backend that does not promise what the shape is about.
    public var unpromised: Int
    /// Samples that time the whole, from which the times and ratios come.
    public var throughputSamples: Int
    /// Throughput samples whose rounds still grew or shrank at their end.
    public var unsteady: Int
    /// Whether the times of the throughput samples fall into two groups.
    public var hasTwoModes: Bool
    /// Throughput samples that lasted less than a sample should. Latency samples may: their figures are of operations.
    public var short: Int

    public var latencySamples: Int
    /// How many latency samples of an open loop had operations end more slowly than they arrived.
    public var overloaded: Int

    /// Whether most latencies only say how long the samples lasted.
    public var isOverloaded: Bool { 2 * overloaded > latencySamples }

    public init(
        samples: Int = 0, noisy: Int = 0, unpromised: Int = 0, throughputSamples: Int = 0, unsteady: Int = 0,
        short: Int = 0, latencySamples: Int = 0, overloaded: Int = 0, hasTwoModes: Bool = false
    ) {
        self.latencySamples = latencySamples
        self.overloaded = overloaded
        self.samples = samples
        self.unpromised = unpromised
        self.throughputSamples = throughputSamples
        self.noisy = noisy
        self.unsteady = unsteady
        self.short = short
        self.hasTwoModes = hasTwoModes
    }
}

import OpBenchModel

/// A recorded run, as input of a page.
public struct PageRun: Sendable {
    public typealias Workload = (name: String, file: String, text: String)
    public typealias Fact = (label: String, value: String)

    /// As the user named it.
    public var name: String
    /// The run's date, state and machine, in a few words each, for the line below the page's title.
    public var heading: [String]
    /// The run's results in sentences, one line each.
    public var sentences: [String]
    public var samples: [SampleRow]
    /// Rows of `summary.csv`, in the order of the page.
    public var summary: [SummaryRow]
    public var latencies: LatencyCurves
    /// The texts of the workload files.
    public var workloads: [Workload]
    /// The environment.
    public var facts: [Fact]
    /// Explanations of differences, as text: a heading in the first line, then a line per change.
    public var explanations: [String]

    public init(
        name: String, heading: [String] = [], sentences: [String] = [], samples: [SampleRow],
        summary: [SummaryRow], latencies: LatencyCurves = LatencyCurves(),
        workloads: [Workload] = [], facts: [Fact] = [], explanations: [String] = []
    ) {
        (self.name, self.heading, self.sentences) = (name, heading, sentences)
        (self.samples, self.summary, self.latencies) = (samples, summary, latencies)
        (self.workloads, self.facts, self.explanations) = (workloads, facts, explanations)
    }
}

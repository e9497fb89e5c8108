import OpBenchModel

/// A recorded run, as input of a page.
public struct PageRun: Sendable {
    /// The text of one workload file.
    public struct Workload: Sendable {
        public var name: String
        public var file: String
        public var text: String

        public init(name: String, file: String, text: String) { (self.name, self.file, self.text) = (name, file, text) }
    }

    /// One line of the environment: a name and a value.
    public struct Fact: Sendable {
        public var label: String
        public var value: String

        public init(_ label: String, _ value: String) { (self.label, self.value) = (label, value) }
    }

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
    public var workloads: [Workload]
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

import OpBenchModel

/// A recorded run, as a page takes it.
public struct PageRun: Sendable {
    /// The text of one workload file.
    public struct Workload: Sendable {
        public var name: String
        public var file: String
        public var text: String

        public init(name: String, file: String, text: String) { (self.name, self.file, self.text) = (name, file, text) }
    }

    /// One line of the environment: what, and how it was.
    public struct Fact: Sendable {
        public var label: String
        public var value: String

        public init(_ label: String, _ value: String) { (self.label, self.value) = (label, value) }
    }

    /// CPU time of one cell on one backend by the kind of code, from a profile.
    public struct CPUClasses: Sendable {
        public var cellID: String
        public var backend: String
        /// The class in words, and its part of the time, from 0 to 1.
        public var parts: [(name: String, part: Double)]

        public init(cellID: String, backend: String, parts: [(name: String, part: Double)]) {
            (self.cellID, self.backend, self.parts) = (cellID, backend, parts)
        }
    }

    /// As the user named it.
    public var name: String
    /// What and where it was, in a few words each: they stand below the page's title.
    public var heading: [String]
    /// What to know before the first figure; empty if there is nothing.
    public var warning: String
    public var samples: [SampleRow]
    /// Rows of `summary.csv`, in the order in which the page shows them.
    public var summary: [SummaryRow]
    public var latencies: LatencyCurves
    public var workloads: [Workload]
    public var facts: [Fact]
    /// Empty without a profile.
    public var classes: [CPUClasses]

    public init(
        name: String, heading: [String] = [], warning: String = "", samples: [SampleRow], summary: [SummaryRow],
        latencies: LatencyCurves = LatencyCurves(),
        workloads: [Workload] = [], facts: [Fact] = [], classes: [CPUClasses] = []
    ) {
        (self.name, self.heading, self.warning) = (name, heading, warning)
        (self.samples, self.summary, self.latencies) = (samples, summary, latencies)
        (self.workloads, self.facts, self.classes) = (workloads, facts, classes)
    }
}

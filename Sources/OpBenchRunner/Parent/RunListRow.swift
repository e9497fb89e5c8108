import OpBenchModel

/// One row of `opbench runs`: a run in a folder, by its manifest.
public struct RunListRow: Sendable, Hashable {
    public enum State: String, Sendable {
        case running, finished
        /// Ended by a signal or killed; `--resume` continues it.
        case interrupted
    }

    /// The name that selects the run: its folder's name.
    public var name: String
    public var isBaseline: Bool
    public var startedUTC: String
    /// Names separated by spaces.
    public var workloads: String
    public var backends: String
    public var cells: Int
    /// The most completed throughput blocks of a cell, or blocks of another kind if there are none.
    public var blocks: Int
    /// The numbers of completed and planned samples.
    public var samples: Int
    public var plannedSamples: Int
    /// The number of samples that failed unexpectedly; nil if unknown.
    public var badSamples: Int?
    public var state: State
    public var host: HostKind
}

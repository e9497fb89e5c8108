import OpBenchModel

/// The sweep that a run belongs to, as recorded in `run.json`. Without a shard, the run was merged from the sweep's
/// parts.
public struct SweepFacts: Codable, Sendable, Equatable {
    /// See `Sweep`.
    public var sha256: String
    /// See `Sweep`.
    var commit: String?
    public var shard: Shard?
    /// The ids of the shard's cells, sorted, including cells where nothing can be measured.
    var cells: [String]?
}

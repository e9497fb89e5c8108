import OpBenchBackends
import OpBenchModel

/// What the `run.json` of a merged run says of one of its parts: which machine measured which cells.
struct MergedPart: Codable, Sendable, Equatable {
    var shard: String
    var startedUTC: String
    var endedUTC: String?
    var calibration: WorkKernel
    var machine: HostFacts
    /// Their ids.
    var cells: [String]

    enum CodingKeys: String, CodingKey {
        case shard, calibration, machine, cells
        case startedUTC = "started_utc"
        case endedUTC = "ended_utc"
    }
}

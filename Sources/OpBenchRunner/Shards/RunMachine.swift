import OpBenchModel

/// A machine that measured a run, or a part of one that was merged.
public struct RunMachine: Sendable {
    /// Nil in runs that were recorded without it.
    public let name: String?
    public let kind: HostKind
    /// How many iterations of the work kernel it took for a nanosecond.
    public let iterationsPerNanosecond: Double
    /// The ids of its cells; nil for all of the run.
    public let cells: Set<String>?
    /// The shards that it measured; empty for a run that was not merged.
    public let shards: [String]

    static func all(of manifest: RunManifest) -> [RunMachine] {
        guard let parts = manifest.parts, !parts.isEmpty else {
            return [
                RunMachine(
                    name: manifest.host.host, kind: manifest.host.kind,
                    iterationsPerNanosecond: manifest.calibration.iterationsPerNanosecond, cells: nil, shards: [])
            ]
        }
        // One machine may have measured several parts, each with a calibration of its own.
        return parts.map { part in
            RunMachine(
                name: part.machine.host, kind: part.machine.kind,
                iterationsPerNanosecond: part.calibration.iterationsPerNanosecond, cells: Set(part.cells),
                shards: [part.shard])
        }
    }
}

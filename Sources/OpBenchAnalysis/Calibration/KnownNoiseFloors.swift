import OpBenchModel

/// The floors that were measured on one class of host, to be looked up.
public struct KnownNoiseFloors: Sendable {
    private struct Place: Hashable {
        var comparison: ComparisonKind
        var fields: [String]
    }
    private var floors: [Place: Double] = [:]

    /// Nothing is known.
    public init() {}

    /// - Parameters:
    ///   - rows: of any hosts.
    ///   - host: tells what a cell was measured on, whose floors count for it, since no other's say anything of it; nil for a
    ///     cell that was not measured.
    public init(_ rows: [NoiseFloorRow], of host: (_ cellID: String) -> HostKind?) {
        for row in rows where row.host == host(row.cellID) {
            floors[
                Place(
                    comparison: row.comparison,
                    fields: [row.cellID, row.backend.rawValue, row.phase, row.operationClass, row.metric, row.stat])] =
                row.noiseFloor
        }
    }

    /// Of a run on one kind of host.
    public init(_ rows: [NoiseFloorRow], of host: HostKind) { self.init(rows) { _ in host } }

    /// The floor of a figure, or nil where it was not measured.
    public func floor(of row: CompareRow, _ comparison: ComparisonKind) -> Double? {
        floors[
            Place(
                comparison: comparison,
                fields: [row.cellID, row.backend.rawValue, row.phase, row.operationClass, row.metric, row.stat])]
    }
}

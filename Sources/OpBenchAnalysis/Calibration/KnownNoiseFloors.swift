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
    ///   - host: whose floors count, since no other's say anything of it.
    public init(_ rows: [NoiseFloorRow], of host: HostKind) {
        for row in rows where row.host == host {
            floors[
                Place(
                    comparison: row.comparison,
                    fields: [row.cellID, row.backend.rawValue, row.phase, row.operationClass, row.metric, row.stat])] =
                row.noiseFloor
        }
    }

    /// The floor of a figure, or nil where it was not measured.
    public func floor(of row: CompareRow, _ comparison: ComparisonKind) -> Double? {
        floors[
            Place(
                comparison: comparison,
                fields: [row.cellID, row.backend.rawValue, row.phase, row.operationClass, row.metric, row.stat])]
    }
}

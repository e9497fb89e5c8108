import OpBenchModel

/// Samples that were run again after a disturbance.
///
/// The repetition (flag `rerun`) counts whatever it shows, so that no result is chosen for its value; a repetition without
/// figures supersedes nothing.
public enum SupersededSamples {
    private struct Slot: Hashable {
        var cellID: String
        var backend: BackendID
        var side: String
        /// The kind of sample, which ends the id.
        var kind: Substring
        var block: Int

        init(_ row: SampleRow) {
            (cellID, backend, side, block) = (row.cellID, row.backend, row.side, row.block)
            kind = row.sampleID.drop { $0 != "-" }
        }
    }

    /// The ids of those that do not count.
    ///
    /// - Parameter rows: of one run, all of them or those of some cells and backends.
    public static func ids(in rows: [SampleRow]) -> Set<String> {
        let repeated = Set(rows.lazy.filter { $0.status == .ok && $0.flags.contains("rerun") }.map(Slot.init))
        if repeated.isEmpty { return [] }
        return Set(
            rows.lazy.filter { !$0.flags.contains("rerun") && repeated.contains(Slot($0)) }.map(\.sampleID))
    }
}

import OpBenchModel

/// Decides whether two samples of each build agree, for counts that barely vary as a rule.
///
/// A count is unknown in a cell if no two samples of a build agree. While disagreement may be chance, the run takes more
/// samples, a block at a time. The decision depends only on how the samples of each side agree among
/// themselves, so it favours neither side.
struct CountAgreement {
    /// The maximum number of blocks. A count without agreement by then stays inconclusive.
    static let mostBlocks = 7

    private struct Cell: Hashable {
        var cellID: String
        var backend: BackendID
    }

    private struct Count: Hashable {
        var side: String
        var metric: Metric
        var phase: String
    }

    /// Values by block; if a sample was repeated, those of the repeat.
    private var values: [Cell: [Count: [Int: Double]]] = [:]

    mutating func add(_ row: SampleRow) {
        guard row.status == .ok, let value = row.value, let metric = Metric.named(row.metric), metric.isDeterministic
        else { return }
        let count = Count(side: row.side, metric: metric, phase: row.phase)
        values[Cell(cellID: row.cellID, backend: row.backend), default: [:]][count, default: [:]][row.block] = value
    }

    /// Whether to take more samples. The answer depends only on the blocks before this one, so a resumed run decides as
    /// the first process did.
    func isOpen(_ cellID: String, _ backend: BackendID, before block: Int) -> Bool {
        (values[Cell(cellID: cellID, backend: backend)] ?? [:]).contains { count, values in
            count.metric.leastAgreed(values.filter { $0.key < block }.map(\.value)) == nil
        }
    }
}

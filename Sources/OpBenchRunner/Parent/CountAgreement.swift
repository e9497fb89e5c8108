import OpBenchModel

/// Whether two samples of each build are the same, for counts that barely vary as a rule.
///
/// A count of which no two samples of a build agree is not deterministic there. As long as that may be chance, the run
/// takes more samples, a block at a time. The decision depends only on how the samples of each side agree among
/// themselves, so it favours neither side.
struct CountAgreement {
    /// The most blocks. A count without agreement by then is not deterministic.
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

    /// Values by block; if a sample was taken twice, those of the second.
    private var values: [Cell: [Count: [Int: Double]]] = [:]

    mutating func add(_ row: SampleRow) {
        guard row.status == .ok, let value = row.value, let metric = Metric.named(row.metric), metric.isDeterministic
        else { return }
        let count = Count(side: row.side, metric: metric, phase: row.phase)
        values[Cell(cellID: row.cellID, backend: row.backend), default: [:]][count, default: [:]][row.block] = value
    }

    /// Whether more samples are to be taken. The answer depends on the blocks before this one and nothing else, so that
    /// a resumed run decides as the first one did.
    func isOpen(_ cellID: String, _ backend: BackendID, before block: Int) -> Bool {
        (values[Cell(cellID: cellID, backend: backend)] ?? [:]).contains { count, values in
            !count.metric.hasAgreement(values.filter { $0.key < block }.map(\.value))
        }
    }
}

import OpBenchModel

/// How the samples of a run ended, counted row by row: the run's rows need not be in memory.
public struct SampleEndings: Sendable {
    public private(set) var doubtful = DoubtfulSamples()
    /// Whether some sample is invalid, crashed or timed out that its workload does not expect to.
    public private(set) var isAnyBad = false
    private let unexpected: UnexpectedSamples

    /// - Parameter specs: the workloads of the run.
    public init(specs: [WorkloadSpec]) { unexpected = UnexpectedSamples(specs: specs) }

    /// Takes in a row. What it tells of its sample is told by the sample's last row, its `status`.
    public mutating func count(_ row: SampleRow) {
        guard row.metric == Metric.status.name else { return }
        doubtful.count(row)
        if unexpected.contains(row) { isAnyBad = true }
    }
}

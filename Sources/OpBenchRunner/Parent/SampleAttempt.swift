import OpBenchModel

/// One process that was run for a sample.
struct SampleAttempt {
    var sample: PlannedSample
    /// Whether this repeats a sample that was taken under interference.
    var isRerun: Bool
    var timestamp: String
    var report: SampleReport
    var interference: Interference

    var isNoisy: Bool { interference.disturbs(sample.kind) }

    var id: String { isRerun ? sample.rerunID : sample.id }

    var histogramRows: [HistogramRow] {
        report.histograms.map { histogram in
            // A build of another time may have other buckets.
            let buckets = LatencyBuckets.merged(
                zip(histogram.upperBounds, histogram.counts).map { (upperBound: $0, count: $1) })
            return HistogramRow(
                workload: sample.cell.workload, cellID: sample.cell.id, backend: sample.backend,
                side: sample.side?.rawValue ?? "", sampleID: id, stage: histogram.stage,
                operationClass: histogram.operationClass, upperBoundsNanoseconds: buckets.map(\.upperBound),
                counts: buckets.map(\.count))
        }
    }
}

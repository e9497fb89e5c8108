import OpBenchModel

/// One process that was run for a sample.
struct SampleAttempt {
    var sample: PlannedSample
    /// Whether this repeats a sample that was taken under interference.
    var isRerun: Bool
    var timestamp: String
    var report: SampleReport
    var interference: Interference

    var id: String { isRerun ? sample.rerunID : sample.id }

    var histogramRows: [HistogramRow] {
        report.histograms.flatMap { histogram in
            zip(histogram.upperBounds, histogram.counts).map {
                HistogramRow(
                    sampleID: id, stage: histogram.stage, operationClass: histogram.operationClass,
                    upperBoundNanoseconds: $0, count: $1)
            }
        }
    }
}

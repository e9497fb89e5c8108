/// One row of `histograms.csv`: one bucket of one sample's latency histogram. Histograms add up where percentiles do
/// not.
public struct HistogramRow: Sendable, Hashable {
    public var sampleID: String
    /// What was timed: `start_latency`, `end_latency`, …
    public var stage: String
    /// Empty, or as in `SampleRow`: `priority=high`.
    public var operationClass: String
    /// The greatest latency that falls into the bucket, in nanoseconds.
    public var upperBoundNanoseconds: Int64
    public var count: Int64
    /// Always empty: `histograms.csv` has no `param.` columns.
    public var parameters: [String: String] = [:]

    public init(
        sampleID: String, stage: String, operationClass: String = "", upperBoundNanoseconds: Int64, count: Int64
    ) {
        self.sampleID = sampleID
        self.stage = stage
        self.operationClass = operationClass
        self.upperBoundNanoseconds = upperBoundNanoseconds
        self.count = count
    }
}

extension HistogramRow: CSVRow {
    public static let fileName = "histograms.csv"
    public static let hasParameters = false

    public static let columnList: [CSVColumn<HistogramRow>] = [
        .init("sample_id", \.sampleID), .init("stage", \.stage), .init("class", \.operationClass),
        .init("upper_bound_ns", \.upperBoundNanoseconds), .init("count", \.count),
    ]

    public static let blank = HistogramRow(sampleID: "", stage: "", upperBoundNanoseconds: 0, count: 0)
}

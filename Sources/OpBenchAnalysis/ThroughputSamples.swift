import OpBenchModel

/// The throughput samples behind each row of a summary, to be shown beside their median.
public struct ThroughputSamples: Sendable {
    public struct Sample: Sendable, Hashable {
        public var block: Int
        public var operationsPerSecond: Double
        /// Whether something else used the machine.
        public var isNoisy: Bool

        public var nanosecondsPerOperation: Double { 1e9 / operationsPerSecond }
    }

    /// The cell and backend of samples.
    public struct Key: Hashable, Sendable {
        public var cellID: String
        public var backend: BackendID
        public var side: String

        public init(cellID: String, backend: BackendID, side: String = "") {
            (self.cellID, self.backend, self.side) = (cellID, backend, side)
        }
    }

    /// Samples by block, without repeated samples and without those that have no figure.
    public private(set) var samples: [Key: [Sample]] = [:]
    /// The number of noisy samples of any kind.
    public private(set) var noisy: [Key: Int] = [:]

    /// - Parameter rows: rows of one run.
    public init(_ rows: [SampleRow]) {
        var indices: [Key: [Int]] = [:]
        var noisyIDs: [Key: Set<String>] = [:]
        for (index, row) in rows.enumerated() {
            let key = Key(cellID: row.cellID, backend: row.backend, side: row.side)
            if row.flags.contains(.noisy) { noisyIDs[key, default: []].insert(row.sampleID) }
            // Any row of a sample shows whether it is a repetition.
            if row.metric == Metric.operationThroughput.name { indices[key, default: []].append(index) }
        }
        noisy = noisyIDs.mapValues(\.count)
        for (key, indices) in indices {
            let rates = BackendSamples(rows: indices.map { rows[$0] }).figures(
                .operationThroughput, stat: "rate", phase: "total")
            samples[key] = rates.filter { $0.value > 0 }.map { rate in
                Sample(
                    block: rate.block, operationsPerSecond: rate.value,
                    isNoisy: noisyIDs[key]?.contains(rate.sampleID) ?? false)
            }
        }
    }
}

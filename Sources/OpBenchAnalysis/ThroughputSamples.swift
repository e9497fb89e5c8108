import OpBenchModel

/// The throughput samples behind each row of a summary, one by one, to be shown beside their median.
public struct ThroughputSamples: Sendable {
    public struct Sample: Sendable, Hashable {
        public var block: Int
        public var nanosecondsPerOperation: Double
        /// Whether something else used the machine, or the rounds had not settled.
        public var isDoubtful: Bool
    }

    /// Whose samples they are.
    public struct Key: Hashable, Sendable {
        public var cellID: String
        public var backend: BackendID
        public var side: String

        public init(cellID: String, backend: BackendID, side: String = "") {
            (self.cellID, self.backend, self.side) = (cellID, backend, side)
        }
    }

    /// Samples by block. Those that were repeated are not among them, nor those without a figure.
    public private(set) var samples: [Key: [Sample]] = [:]
    /// How many samples of any kind are doubtful.
    public private(set) var doubtful: [Key: Int] = [:]

    /// - Parameter rows: of one run.
    public init(_ rows: [SampleRow]) {
        var indices: [Key: [Int]] = [:]
        var doubtfulIDs: [Key: Set<String>] = [:]
        for (index, row) in rows.enumerated() {
            let key = Key(cellID: row.cellID, backend: row.backend, side: row.side)
            if row.flags.contains("noisy") || row.flags.contains("unsteady") {
                doubtfulIDs[key, default: []].insert(row.sampleID)
            }
            // A repetition is told by the rows of its sample, whichever they are.
            if row.metric == Metric.operationThroughput.name { indices[key, default: []].append(index) }
        }
        doubtful = doubtfulIDs.mapValues(\.count)
        for (key, indices) in indices {
            let rates = BackendSamples(rows: indices.map { rows[$0] }).figures(
                .operationThroughput, stat: "rate", phase: "total")
            samples[key] = rates.filter { $0.value > 0 }.map { rate in
                Sample(
                    block: rate.block, nanosecondsPerOperation: 1e9 / rate.value,
                    isDoubtful: doubtfulIDs[key]?.contains(rate.sampleID) ?? false)
            }
        }
    }
}

import Histogram

/// HdrHistograms by stage and class, three significant digits, growing as needed. Each thread or round fills its own,
/// and they are merged afterwards.
struct LatencyRecorder: Sendable {
    struct Key: Hashable, Sendable {
        var stage: LatencyStage
        /// As in the column `class`; empty for all operations together.
        var operationClass: String
    }

    private(set) var histograms: [Key: Histogram<UInt64>] = [:]

    /// Adds a histogram of nanoseconds; an empty one leaves no trace.
    mutating func merge(_ histogram: Histogram<UInt64>, _ stage: LatencyStage, _ operationClass: String = "") {
        guard histogram.totalCount > 0 else { return }
        let key = Key(stage: stage, operationClass: operationClass)
        if histograms[key]?.add(histogram) == nil { histograms[key] = histogram }
    }

    /// Stages and classes in the order of the files.
    var sortedKeys: [Key] {
        let order = LatencyStage.allCases
        return histograms.keys.sorted {
            let (left, right) = (order.firstIndex(of: $0.stage) ?? 0, order.firstIndex(of: $1.stage) ?? 0)
            return (left, $0.operationClass) < (right, $1.operationClass)
        }
    }
}

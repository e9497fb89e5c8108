import Histogram

/// The stages of an operation's life that are timed, as written in the column `stage` of `histograms.csv`.
enum LatencyStage: String, CaseIterable, Sendable {
    /// just before the submitting call → ready
    case ready
    /// ready → start
    case start
    /// start → end
    case run
    /// ready → end
    case end
    /// end → completion block entered
    case notified
    /// just before the submitting call → start
    case submit
    /// the intended instant of submitting → end, in an open loop
    case intended
    /// just before the submitting call → end, where the plan has a pace
    case service
    /// the intended instant of submitting → just before the submitting call
    case lag
    /// suspend returned → last start within the hold
    case quiesce
    /// resume called → first start
    case resume
}

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
        histograms[Key(stage: stage, operationClass: operationClass), default: Histogram()].add(histogram)
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

extension Histogram where Count == UInt64 {
    /// Records a duration in nanoseconds. What is below 0 (an operation that started before its submitting call had
    /// returned) did not wait, and counts as 0.
    mutating func record(nanoseconds: Int64) { record(UInt64(clamping: nanoseconds)) }

    /// The buckets that hold something, in two significant digits: what `histograms.csv` keeps.
    var buckets: [(upperBound: Int64, count: Int64)] {
        var coarse = Histogram<UInt64>(numberOfSignificantValueDigits: .two)
        for recorded in recordedValues() { coarse.record(recorded.value, count: recorded.count) }
        return coarse.recordedValues().map {
            (Int64(clamping: coarse.highestEquivalentForValue($0.value)), Int64($0.count))
        }
    }
}

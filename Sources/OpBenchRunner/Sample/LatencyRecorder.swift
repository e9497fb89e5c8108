import Histogram
import OpBenchModel

/// HdrHistograms by stage and class, three significant digits, growing as needed. Each thread or round fills its own,
/// and they are merged afterwards.
struct LatencyRecorder: Sendable {
    struct Key: Hashable, Sendable {
        var stage: LatencyStage
        /// Value of the column `class`; empty for all operations together.
        var operationClass: String
    }

    private(set) var histograms: [Key: Histogram<UInt64>] = [:]

    /// Adds a histogram of nanoseconds; an empty one is ignored.
    mutating func merge(_ histogram: Histogram<UInt64>, _ stage: LatencyStage, _ operationClass: String = "") {
        guard histogram.totalCount > 0 else { return }
        let key = Key(stage: stage, operationClass: operationClass)
        if histograms[key]?.add(histogram) == nil { histograms[key] = histogram }
    }

    /// The keys in the order of the files.
    var sortedKeys: [Key] {
        let order = LatencyStage.allCases
        return histograms.keys.sorted {
            let (left, right) = (order.firstIndex(of: $0.stage) ?? 0, order.firstIndex(of: $1.stage) ?? 0)
            return (left, $0.operationClass) < (right, $1.operationClass)
        }
    }
}

/// The stages of an operation's life that are timed, as recorded in the column `stage` of `histograms.csv`.
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

extension LatencyStage {
    /// The metric of the stage's rows.
    var metric: Metric {
        switch self {
        case .ready: .readyLatency
        case .start: .startLatency
        case .run: .runTime
        case .end: .endLatency
        case .notified: .notifyLatency
        case .submit: .submitLatency
        case .intended: .intendedLatency
        case .service: .serviceLatency
        case .lag: .submitLag
        case .quiesce: .quiesceTime
        case .resume: .resumeToStart
        }
    }
}

extension Histogram where Count == UInt64 {
    /// Records a duration in nanoseconds. A negative one counts as 0: the operation started before its submitting call
    /// returned, and did not wait.
    mutating func record(nanoseconds: Int64) { record(UInt64(clamping: nanoseconds)) }

    /// The non-empty buckets, as recorded in `histograms.csv`.
    var buckets: [(upperBound: Int64, count: Int64)] {
        LatencyBuckets.merged(
            recordedValues().map {
                (upperBound: Int64(clamping: highestEquivalentForValue($0.value)), count: Int64($0.count))
            })
    }
}

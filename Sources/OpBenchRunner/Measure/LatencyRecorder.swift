import Histogram

/// The stages of an operation's life that are timed, as written in the column `stage` of `histograms.csv`.
enum LatencyStage: String, CaseIterable, Sendable {
    /// ready → start
    case start
    /// ready → end
    case end
    /// end → completion block entered
    case notified
    /// just before the submitting call → start
    case submit
    /// suspend returned → last start within the hold
    case quiesce
    /// resume called → first start
    case resume
}

/// HdrHistograms by stage and class: three significant digits, growing as needed. Recorders of several threads, or of
/// several rounds, are merged afterwards.
struct LatencyRecorder: Sendable {
    struct Key: Hashable, Sendable {
        var stage: LatencyStage
        /// As in the column `class`; empty for all operations together.
        var operationClass: String
    }

    private(set) var histograms: [Key: Histogram<UInt64>] = [:]

    /// Records a duration in nanoseconds. What is below 0 (an operation that started before its submitting call had
    /// returned) did not wait, and counts as 0.
    mutating func record(_ nanoseconds: Int64, _ stage: LatencyStage, _ operationClass: String = "") {
        histograms[Key(stage: stage, operationClass: operationClass), default: Histogram()]
            .record(UInt64(max(0, nanoseconds)))
    }

    mutating func merge(_ other: LatencyRecorder) {
        for (key, histogram) in other.histograms {
            histograms[key, default: Histogram()].add(histogram)
        }
    }
}

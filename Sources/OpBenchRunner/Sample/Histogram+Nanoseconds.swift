import Histogram
import OpBenchModel

extension Histogram where Count == UInt64 {
    /// Records a duration in nanoseconds. What is below 0 (an operation that started before its submitting call had
    /// returned) did not wait, and counts as 0.
    mutating func record(nanoseconds: Int64) { record(UInt64(clamping: nanoseconds)) }

    /// The buckets that hold something, as `histograms.csv` keeps them.
    var buckets: [(upperBound: Int64, count: Int64)] {
        LatencyBuckets.merged(
            recordedValues().map {
                (upperBound: Int64(clamping: highestEquivalentForValue($0.value)), count: Int64($0.count))
            })
    }
}

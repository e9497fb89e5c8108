import Histogram

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

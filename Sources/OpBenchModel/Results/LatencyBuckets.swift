/// The buckets of `histograms.csv`: fixed, the same for all histograms of all runs, so that histograms add up bucket by
/// bucket.
///
/// Below 64 ns each nanosecond has its own. Above, each doubling of the time is cut into 32 equal parts, so that a bucket
/// is 1.6 % to 3.2 % of its value wide.
public enum LatencyBuckets {
    /// The greatest width of a bucket, as a part of the least value in it.
    public static let relativeWidth = 1.0 / 32

    private static let bits = 5

    /// The greatest value, in nanoseconds, in the bucket of one.
    public static func upperBound(of nanoseconds: Int64) -> Int64 {
        guard nanoseconds >= 1 << bits else { return max(0, nanoseconds) }
        let octave = Int64.bitWidth - 1 - nanoseconds.leadingZeroBitCount
        return nanoseconds | ((1 << (octave - bits)) - 1)
    }

    /// Counts by their buckets, in ascending order. A sum that an Int64 does not hold is the greatest one.
    ///
    /// - Parameter counts: of values, or of finer buckets by their upper bounds, in nanoseconds.
    public static func merged(
        _ counts: some Sequence<(upperBound: Int64, count: Int64)>
    ) -> [(upperBound: Int64, count: Int64)] {
        var merged: [Int64: Int64] = [:]
        for (value, count) in counts { merged[upperBound(of: value), default: 0].addClamped(count) }
        return merged.sorted { $0.key < $1.key }.map { (upperBound: $0.key, count: $0.value) }
    }
}

/// One row of `histograms.csv`: one latency histogram of one sample. Histograms can be added, percentiles cannot.
///
/// The buckets are those of `LatencyBuckets`; empty ones are left out.
public struct HistogramRow: Sendable, Hashable {
    public var workload = ""
    public var cellID = ""
    public var backend = BackendID.engine
    /// As in `SampleRow`.
    public var side = ""
    public var sampleID = ""
    /// The timed stage: `start`, `end`, …
    public var stage = ""
    /// Empty, or as in `SampleRow`: `priority=high`.
    public var operationClass = ""
    /// The greatest latency in each bucket, in nanoseconds, ascending.
    public var upperBoundsNanoseconds: [Int64] = []
    /// The count of each bucket, parallel to the bounds.
    public var counts: [Int64] = []

    /// The buckets with their counts.
    public var buckets: Zip2Sequence<[Int64], [Int64]> { zip(upperBoundsNanoseconds, counts) }
}

extension HistogramRow: CSVRow {
    public static let fileName = "histograms.csv"
    public static let hasParameters = false

    public static let columnList: [CSVColumn<HistogramRow>] = [
        .schemaVersion, .init("workload", \.workload), .init("cell_id", \.cellID), .init("backend", \.backend),
        .init("side", \.side), .init("sample_id", \.sampleID), .init("stage", \.stage),
        .init("operation_class", \.operationClass), bounds, counts,
    ]

    private static let bounds = CSVColumn("upper_bounds_ns", list: \HistogramRow.upperBoundsNanoseconds).expecting {
        let bounds = $0.upperBoundsNanoseconds
        let areAscending = zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }
        return areAscending && bounds.first ?? 0 >= 0 ? nil : "ascending whole numbers from 0"
    }

    private static let counts = CSVColumn("counts", list: \HistogramRow.counts).expecting {
        $0.counts.count == $0.upperBoundsNanoseconds.count && $0.counts.allSatisfy { $0 >= 0 }
            ? nil : "as many counts from 0 as upper bounds"
    }

    public static let blank = HistogramRow()
}

/// The buckets of `histograms.csv`, the same for all histograms of all runs, so that histograms can be added bucket by
/// bucket.
///
/// Below 64 ns, each nanosecond has its own bucket. Above, each doubling of the time is divided into 32 equal parts, so
/// a bucket's width is 1.6 % to 3.2 % of its value.
public enum LatencyBuckets {
    private static let bits = 5

    /// The greatest value in the bucket of a value, in nanoseconds.
    public static func upperBound(of nanoseconds: Int64) -> Int64 {
        guard nanoseconds >= 1 << bits else { return max(0, nanoseconds) }
        let octave = Int64.bitWidth - 1 - nanoseconds.leadingZeroBitCount
        return nanoseconds | ((1 << (octave - bits)) - 1)
    }

    /// Counts by bucket, in ascending order. Sums saturate at the largest Int64.
    ///
    /// - Parameter counts: counts of values, or of finer buckets by their upper bounds, in nanoseconds.
    public static func merged(
        _ counts: some Sequence<(upperBound: Int64, count: Int64)>
    ) -> [(upperBound: Int64, count: Int64)] {
        var merged: [Int64: Int64] = [:]
        for (value, count) in counts { merged[upperBound(of: value), default: 0].addClamped(count) }
        return merged.sorted { $0.key < $1.key }.map { (upperBound: $0.key, count: $0.value) }
    }
}

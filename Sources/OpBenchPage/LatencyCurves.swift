import OpBenchModel

/// Latencies by percentile and by size, for each cell on each backend, from the histograms of its samples.
///
/// A percentile is the median of the samples' percentiles, as in the summary; latencies by size count all operations.
public struct LatencyCurves: Sendable {
    public struct Key: Hashable, Sendable {
        public var cellID: String
        public var backend: String
        public var operationClass: String
        /// `base` or `head` if two builds are compared; else empty.
        public var side: String
        /// The timed stage, as in the histogram rows.
        public var stage: String

        public init(cellID: String, backend: String, operationClass: String = "", side: String = "", stage: String) {
            (self.cellID, self.backend, self.operationClass) = (cellID, backend, operationClass)
            (self.side, self.stage) = (side, stage)
        }

        fileprivate var words: [String] { [cellID, backend, operationClass, side, stage] }
    }

    /// The counts of operations by latency in nanoseconds, for each sample; not yet sorted.
    private var counts: [Key: [String: [(bound: Int64, count: Int64)]]] = [:]

    public init() {}

    /// Adds a histogram. Histograms of one sample and key add up; the order does not matter.
    public mutating func add(_ row: HistogramRow) {
        let key = Key(
            cellID: row.cellID, backend: row.backend.rawValue, operationClass: row.operationClass, side: row.side,
            stage: row.stage)
        let buckets = row.buckets.filter { $0 >= 0 && $1 > 0 }.map { (bound: $0, count: $1) }
        if !buckets.isEmpty { counts[key, default: [:]][row.sampleID, default: []] += buckets }
    }

    public var keys: [Key] {
        counts.keys.sorted { $0.words.lexicographicallyPrecedes($1.words) }
    }

    struct Curve {
        var total: Int64
        /// Pairs of a fraction of operations, from 0 to 1, and its latency in nanoseconds.
        var points: [(part: Double, nanoseconds: Int64)]
        /// The counts of latencies by size, from `firstBucket` on: see `bucket(of:)`.
        var firstBucket: Int
        var buckets: [Int64]
    }

    /// - Parameter ticks: the number of points per halving of the remaining operations, as in HdrHistogram's
    ///   percentiles.
    func curve(_ key: Key, ticks: Int = 4) -> Curve? {
        guard let counts = counts[key] else { return nil }
        let samples = counts.values.map(LatencyDistribution.init)
        let all = LatencyDistribution(counts.values.flatMap(\.self))
        let most = samples.reduce(0) { max($0, $1.total) }
        var points: [(part: Double, nanoseconds: Int64)] = []
        for part in Self.parts(ticks, of: most) + [1] {
            let greatest = all.bounds[all.bounds.count - 1]
            let latency = part == 1 ? greatest : Self.median(samples.map { $0.latency(of: part) })
            // The last of several fractions with the same latency is enough.
            if points.last?.nanoseconds == latency { points.removeLast() }
            points.append((part, latency))
        }
        let (first, buckets) = Self.buckets(zip(all.bounds, all.counts).map { (bound: $0, count: $1) })
        return Curve(total: all.total, points: points, firstBucket: first, buckets: buckets)
    }

    /// The fractions from 0 to 1/2, from there to 3/4, and so on, in equally many steps each, as far as the number of
    /// operations can resolve; and the percentiles of the summary.
    private static func parts(_ ticks: Int, of operations: Int64) -> [Double] {
        var parts = [0.9, 0.99, 0.999, 0.9999]
        var rest = 1.0
        while rest * Double(operations) > 1 {
            parts += (0..<ticks).map { 1 - rest + rest / 2 * Double($0) / Double(ticks) }
            rest /= 2
        }
        return Set(parts.filter { (1 - $0) * Double(operations) > 1 - 1e-9 } + [0]).sorted()
    }

    private static func median(_ values: [Int64]) -> Int64 {
        let sorted = values.sorted()
        let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
        return low + (high - low) / 2
    }

    private static func buckets(_ sorted: [(bound: Int64, count: Int64)]) -> (Int, [Int64]) {
        let places = sorted.map { bucket(of: $0.bound) }
        let (first, last) = (places[0], places[places.count - 1])
        var buckets = [Int64](repeating: 0, count: last - first + 1)
        for (place, entry) in zip(places, sorted) { buckets[place - first].addClamped(entry.count) }
        return (first, buckets)
    }

    /// Four equal buckets per power of two: bucket `4p + q` begins at `2^p · (1 + q/4)` ns; -1 is the bucket of 0.
    static func bucket(of nanoseconds: Int64) -> Int {
        guard nanoseconds > 0 else { return -1 }
        let power = Int64.bitWidth - 1 - nanoseconds.leadingZeroBitCount
        let quarter =
            power >= 2 ? Int((nanoseconds >> (Int64(power) - 2)) & 3) : Int((nanoseconds << (2 - Int64(power))) & 3)
        return power * 4 + quarter
    }
}

/// The distribution of the latencies of one sample, or of several.
struct LatencyDistribution {
    /// Ascending, in nanoseconds.
    private(set) var bounds: [Int64] = []
    private(set) var counts: [Int64] = []
    private(set) var total: Int64 = 0
    /// The number of operations up to each of the bounds.
    private var sums: [Int64] = []

    init(_ buckets: [(bound: Int64, count: Int64)]) {
        for bucket in buckets.sorted(by: { $0.bound < $1.bound }) {
            total.addClamped(bucket.count)
            if bounds.last == bucket.bound {
                counts[counts.count - 1].addClamped(bucket.count)
                sums[sums.count - 1] = total
            } else {
                bounds.append(bucket.bound)
                counts.append(bucket.count)
                sums.append(total)
            }
        }
    }

    /// The latency of a fraction of the operations, from 0 to 1: HdrHistogram's percentile.
    func latency(of part: Double) -> Int64 {
        let rank = max(1, (part.nextDown * Double(total)).rounded(.up))
        return bounds[min(bounds.count - 1, sums.partition { Double($0) >= rank })]
    }
}

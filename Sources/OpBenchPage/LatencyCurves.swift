import OpBenchModel

/// Latencies by percentile and by size, of each cell on each backend, from the histograms of its samples, which add up.
public struct LatencyCurves: Sendable {
    public struct Key: Hashable, Sendable {
        public var cellID: String
        public var backend: String
        public var operationClass: String
        /// Which of two compared builds; empty for runs that compare none.
        public var side: String
        /// What was timed, as the histograms' rows name it.
        public var stage: String

        public init(cellID: String, backend: String, operationClass: String = "", side: String = "", stage: String) {
            (self.cellID, self.backend, self.operationClass) = (cellID, backend, operationClass)
            (self.side, self.stage) = (side, stage)
        }

        fileprivate var words: [String] { [cellID, backend, operationClass, side, stage] }
    }

    /// How many operations took at most so long, in nanoseconds; not yet added up.
    private var counts: [Key: [Int64: Int64]] = [:]

    public init() {}

    /// Histograms of any order; those of one key add up.
    public mutating func add(_ row: HistogramRow) {
        let key = Key(
            cellID: row.cellID, backend: row.backend.rawValue, operationClass: row.operationClass, side: row.side,
            stage: row.stage)
        for (bound, count) in row.buckets where bound >= 0 && count > 0 {
            counts[key, default: [:]][bound, default: 0].addClamped(count)
        }
    }

    public var keys: [Key] {
        counts.keys.sorted { $0.words.lexicographicallyPrecedes($1.words) }
    }

    struct Curve {
        var total: Int64
        /// Pairs of the part of operations, from 0 to 1, and the latency that it stays within, in nanoseconds.
        var points: [(part: Double, nanoseconds: Int64)]
        /// The counts of latencies by their size, from `firstBucket` on: see `bucket(of:)`.
        var firstBucket: Int
        var buckets: [Int64]
    }

    /// - Parameter ticks: how many points there are from one half of the operations to the next, as in
    ///   HdrHistogram's percentiles.
    func curve(_ key: Key, ticks: Int = 4) -> Curve? {
        guard let counts = counts[key], !counts.isEmpty else { return nil }
        let sorted = counts.sorted { $0.key < $1.key }
        let total = sorted.reduce(into: Int64(0)) { $0.addClamped($1.value) }
        guard total > 0 else { return nil }
        var points: [(Double, Int64)] = []
        var (sum, rest) = (Int64(0), 1.0)
        var tick = 0
        var wanted = 0.0
        for (bound, count) in sorted {
            sum.addClamped(count)
            let part = Double(sum) / Double(total)
            guard part >= wanted else { continue }
            points.append((min(part, 1), bound))
            while wanted <= part, wanted < 1 {
                // From 0 to 1/2, from there to 3/4, and so on, in as many steps each.
                tick += 1
                wanted = 1 - rest + rest / 2 * Double(tick) / Double(ticks)
                if tick == ticks { (tick, rest) = (0, rest / 2) }
                if rest < 1e-12 { wanted = 1 }
            }
        }
        if let last = sorted.last, points.last?.1 != last.key { points.append((1, last.key)) }
        let (first, buckets) = Self.buckets(sorted)
        return Curve(
            total: total, points: points.map { (part: $0.0, nanoseconds: $0.1) }, firstBucket: first, buckets: buckets)
    }

    private static func buckets(_ sorted: [(key: Int64, value: Int64)]) -> (Int, [Int64]) {
        let places = sorted.map { bucket(of: $0.key) }
        let (first, last) = (places[0], places[places.count - 1])
        var buckets = [Int64](repeating: 0, count: last - first + 1)
        for (place, entry) in zip(places, sorted) { buckets[place - first].addClamped(entry.value) }
        return (first, buckets)
    }

    /// Four buckets to a power of two, of equal width in it: bucket `4p + q` begins at `2^p · (1 + q/4)` ns; -1 is of 0.
    static func bucket(of nanoseconds: Int64) -> Int {
        guard nanoseconds > 0 else { return -1 }
        let power = Int64.bitWidth - 1 - nanoseconds.leadingZeroBitCount
        let quarter =
            power >= 2 ? Int((nanoseconds >> (Int64(power) - 2)) & 3) : Int((nanoseconds << (2 - Int64(power))) & 3)
        return power * 4 + quarter
    }
}

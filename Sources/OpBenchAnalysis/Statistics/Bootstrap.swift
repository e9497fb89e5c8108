import OpBenchModel

/// The interval that holds `confidence` of the estimates made from resamples of the values (percentile bootstrap).
///
/// - Parameters:
///   - seed: the same seed and values give the same interval.
///   - estimate: receives a resample in ascending order.
/// - Returns: nil for fewer than `minimumForInterval` values, and where an estimate is no number.
public func bootstrapInterval(
    of values: [Double], seed: UInt64, confidence: Double = 0.95, resamples: Int = Resamples.most,
    estimate: ([Double]) -> Double?
) -> ClosedRange<Double>? {
    guard values.count >= minimumForInterval, values.allSatisfy(\.isFinite) else { return nil }
    var generator = SplitMix64(seed: seed)
    var sample = Resampling(values)
    let estimates = (0..<Resamples.count(resamples, of: values.count)).compactMap { _ in
        estimate(sample.draw(using: &generator))
    }
    return interval(of: estimates, confidence: confidence)
}

/// As `bootstrapInterval(of:)`, for an estimate from two independent samples, each resampled by itself.
public func bootstrapInterval(
    of first: [Double], and second: [Double], seed: UInt64, confidence: Double = 0.95, resamples: Int = Resamples.most,
    estimate: ([Double], [Double]) -> Double?
) -> ClosedRange<Double>? {
    guard min(first.count, second.count) >= minimumForInterval, (first + second).allSatisfy(\.isFinite) else {
        return nil
    }
    var generator = SplitMix64(seed: seed)
    var (sampleOfFirst, sampleOfSecond) = (Resampling(first), Resampling(second))
    let estimates = (0..<Resamples.count(resamples, of: max(first.count, second.count))).compactMap { _ in
        estimate(sampleOfFirst.draw(using: &generator), sampleOfSecond.draw(using: &generator))
    }
    return interval(of: estimates, confidence: confidence)
}

/// How many resamples an interval is made of. The more values there are, the less they say, and the more each takes.
public enum Resamples {
    public static let most = 2000
    public static let fewest = 200
    /// Values drawn for one interval, and for all intervals of one comparison: some 10 ns each.
    static let valueLimit = 400_000
    static let totalLimit = 400_000_000

    /// As many as wanted, fewer for intervals of many values.
    static func count(_ wanted: Int, of values: Int) -> Int {
        min(wanted, max(fewest, valueLimit / max(1, values)))
    }

    /// As many as wanted, fewer for a comparison of very many values.
    static func count(_ wanted: Int, inComparisonOf values: Int) -> Int {
        min(wanted, max(fewest, totalLimit / max(1, values)))
    }
}

/// The fewest values that allow an interval of 95 %: even from the least to the greatest, n values hold the true
/// median with probability 1 − 2^(1−n), which passes 95 % at six.
public let minimumForInterval = 6

private func interval(of estimates: [Double], confidence: Double) -> ClosedRange<Double>? {
    guard !estimates.isEmpty, !estimates.contains(where: \.isNaN) else { return nil }
    let sorted = estimates.sorted()
    let tail = Int((1 - confidence) / 2 * Double(sorted.count))
    return sorted[tail]...sorted[sorted.count - 1 - tail]
}

/// Draws as many values as there are, with replacement, in ascending order: by counting how often each is drawn, which
/// sorts them without comparing.
private struct Resampling {
    private let ascending: [Double]
    /// Where each value, in its own order, stands among the ascending.
    private let ranks: [Int]
    private var draws: [Int]
    private var resample: [Double]

    init(_ values: [Double]) {
        let order = values.indices.sorted { (values[$0], $0) < (values[$1], $1) }
        ascending = order.map { values[$0] }
        var ranks = Array(repeating: 0, count: values.count)
        for (rank, index) in order.enumerated() { ranks[index] = rank }
        self.ranks = ranks
        draws = Array(repeating: 0, count: values.count)
        resample = values
    }

    mutating func draw(using generator: inout SplitMix64) -> [Double] {
        for _ in ranks { draws[ranks[Int.random(in: 0..<ranks.count, using: &generator)]] += 1 }
        var next = 0
        for rank in ascending.indices {
            for _ in 0..<draws[rank] {
                resample[next] = ascending[rank]
                next += 1
            }
            draws[rank] = 0
        }
        return resample
    }
}

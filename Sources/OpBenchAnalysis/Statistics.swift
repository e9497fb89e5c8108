import Glibc

/// The middle value, or the mean of the two middle ones; nil of nothing.
public func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Hodges–Lehmann's estimate of the centre: the median of the means of all pairs, each value paired with itself too
/// (Walsh averages). As sturdy as the median against a few disturbed values, and nearly as sharp as the mean.
public func hodgesLehmann(_ values: [Double]) -> Double? {
    var averages: [Double] = []
    averages.reserveCapacity(values.count * (values.count + 1) / 2)
    for first in values.indices {
        for second in first..<values.endIndex { averages.append((values[first] + values[second]) / 2) }
    }
    return median(averages)
}

/// The interval that holds `confidence` of the estimates made from resamples of the values (percentile bootstrap).
///
/// - Parameter seed: the same seed and values give the same interval.
/// - Returns: nil for fewer than `minimumForInterval` values.
public func bootstrapInterval(
    of values: [Double], seed: UInt64, confidence: Double = 0.95, resamples: Int = 2000,
    estimate: ([Double]) -> Double?
) -> ClosedRange<Double>? {
    guard values.count >= minimumForInterval else { return nil }
    var generator = SplitMix64(state: seed)
    var resample = values
    var estimates: [Double] = []
    estimates.reserveCapacity(resamples)
    for _ in 0..<resamples {
        for index in resample.indices { resample[index] = values[Int.random(in: 0..<values.count, using: &generator)] }
        if let estimate = estimate(resample) { estimates.append(estimate) }
    }
    guard !estimates.isEmpty else { return nil }
    estimates.sort()
    let tail = Int((1 - confidence) / 2 * Double(estimates.count))
    return estimates[tail]...estimates[estimates.count - 1 - tail]
}

/// The fewest values that allow an interval of 95 %: even from the least to the greatest, n values hold the true
/// median with probability 1 − 2^(1−n), which passes 95 % at six.
public let minimumForInterval = 6

/// A small generator whose whole state is one word (Steele, Lea, Flood 2014), for reproducible resampling.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A seed that depends on nothing but the text (FNV-1a).
    static func seed(from text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

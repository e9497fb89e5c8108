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
    let estimates = (0..<resamples).compactMap { _ in
        values.resample(into: &resample, using: &generator)
        return estimate(resample)
    }
    return interval(of: estimates, confidence: confidence)
}

/// As `bootstrapInterval(of:)`, for an estimate from two independent samples, each resampled by itself.
public func bootstrapInterval(
    of first: [Double], and second: [Double], seed: UInt64, confidence: Double = 0.95, resamples: Int = 2000,
    estimate: ([Double], [Double]) -> Double?
) -> ClosedRange<Double>? {
    guard min(first.count, second.count) >= minimumForInterval else { return nil }
    var generator = SplitMix64(state: seed)
    var (resampleOfFirst, resampleOfSecond) = (first, second)
    let estimates = (0..<resamples).compactMap { _ in
        first.resample(into: &resampleOfFirst, using: &generator)
        second.resample(into: &resampleOfSecond, using: &generator)
        return estimate(resampleOfFirst, resampleOfSecond)
    }
    return interval(of: estimates, confidence: confidence)
}

/// The fewest values that allow an interval of 95 %: even from the least to the greatest, n values hold the true
/// median with probability 1 − 2^(1−n), which passes 95 % at six.
public let minimumForInterval = 6

private func interval(of estimates: [Double], confidence: Double) -> ClosedRange<Double>? {
    guard !estimates.isEmpty else { return nil }
    let sorted = estimates.sorted()
    let tail = Int((1 - confidence) / 2 * Double(sorted.count))
    return sorted[tail]...sorted[sorted.count - 1 - tail]
}

extension [Double] {
    /// Draws as many values as there are, with replacement.
    fileprivate func resample(into other: inout [Double], using generator: inout SplitMix64) {
        for index in other.indices { other[index] = self[Int.random(in: 0..<count, using: &generator)] }
    }
}

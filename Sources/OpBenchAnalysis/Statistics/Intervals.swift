import Glibc

/// The greatest probability with which each end of an interval misses the truth.
public struct Tails: Equatable, Sendable {
    public var low = 0.025
    public var high = 0.025

    /// The tails of a 95 % interval.
    public static let standard = Tails()
}

/// The fewest values with a 95 % interval: n values all lie on one side of the truth with probability 2^(1−n).
public let minimumForInterval = fewestForInterval(tail: Tails.standard.low)

/// The fewest values, or pairs, with an interval whose end misses the truth with at most this probability. The same
/// number in each of two samples is always enough.
func fewestForInterval(tail: Double) -> Int { Int((-log2(tail)).rounded(.up)) }

/// The interval of the median: two of the values, with at least the stated coverage for any distribution (inverted sign
/// test; Hollander and Wolfe, Nonparametric Statistical Methods, section 3.6). Equal values only raise the coverage.
///
/// - Returns: nil for too few values, or if some are not finite. Otherwise contains `median(values)`.
public func medianInterval(of values: [Double], tails: Tails = .standard) -> ClosedRange<Double>? {
    guard values.allSatisfy(\.isFinite) else { return nil }
    let sorted = values.sorted()
    return interval(RankDistribution.sign(of: values.count), tails, of: sorted.count) { sorted[$0] }
}

/// The interval of the centre of a symmetric distribution, as the differences of equal sides have: two of the Walsh
/// averages (Tukey's; the inverted signed-rank test; Hollander and Wolfe, section 3.3).
///
/// - Returns: nil for too few values, or if some are not finite. Otherwise contains `hodgesLehmann(values)`.
public func hodgesLehmannInterval(of values: [Double], tails: Tails = .standard) -> ClosedRange<Double>? {
    guard values.allSatisfy(\.isFinite) else { return nil }
    return interval(RankDistribution.signedRanks(of: values.count), tails, of: WalshAverages(values.sorted()))
}

/// The interval of the shift between two independent samples: two of the differences between a value of the second and
/// one of the first (Moses's; the inverted Mann–Whitney test; Hollander and Wolfe, section 4.3).
///
/// - Returns: nil if either sample has fewer than `minimumForInterval` values or too few for the tails, or if some are
///   not finite. Otherwise contains `hodgesLehmannShift(from:to:)`.
public func hodgesLehmannShiftInterval(
    from first: [Double], to second: [Double], tails: Tails = .standard
) -> ClosedRange<Double>? {
    guard first.allSatisfy(\.isFinite), second.allSatisfy(\.isFinite),
        min(first.count, second.count) >= minimumForInterval
    else { return nil }
    return interval(
        RankDistribution.rankSum(of: first.count, and: second.count), tails,
        of: Differences(from: first.sorted(), to: second.sorted()))
}

private func interval(
    _ distribution: RankDistribution, _ tails: Tails, of matrix: some SortedMatrix
) -> ClosedRange<Double>? {
    interval(distribution, tails, of: matrix.count, value: matrix.select)
}

/// - Parameter value: the value at an index of all `count` values in order.
private func interval(
    _ distribution: RankDistribution, _ tails: Tails, of count: Int, value: (Int) -> Double
) -> ClosedRange<Double>? {
    guard let low = distribution.place(tail: tails.low), let high = distribution.place(tail: tails.high) else {
        return nil
    }
    return value(low)...value(count - 1 - high)
}

/// The exact interval for the probability behind `successes` of `trials` (Clopper and Pearson 1934): the probabilities
/// that neither tail of the binomial distribution rejects.
///
/// - Parameter confidence: of the two-sided interval; each tail has half of the rest.
public func clopperPearsonInterval(successes: Int, trials: Int, confidence: Double = 0.95) -> ClosedRange<Double> {
    precondition(trials > 0 && (0...trials).contains(successes), "successes are a part of at least one trial")
    let tail = (1 - confidence) / 2
    let low = successes == 0 ? 0 : bisect { binomialTail(from: successes, of: trials, probability: $0) < tail }
    let high =
        successes == trials ? 1 : bisect { 1 - binomialTail(from: successes + 1, of: trials, probability: $0) > tail }
    return low...high
}

/// The one-sided upper bound of the probability, at that confidence.
public func clopperPearsonUpperBound(successes: Int, trials: Int, confidence: Double = 0.95) -> Double {
    clopperPearsonInterval(successes: successes, trials: trials, confidence: 2 * confidence - 1).upperBound
}

/// The probability of at least `least` successes.
func binomialTail(from least: Int, of trials: Int, probability: Double) -> Double {
    if least <= 0 || probability >= 1 { return 1 }
    if probability <= 0 { return 0 }
    return (least...trials).reduce(0) { sum, successes in
        let (k, n) = (Double(successes), Double(trials))
        let coefficient = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
        return sum + exp(coefficient + k * log(probability) + (n - k) * log1p(-probability))
    }
}

/// The probability up to which `isBelow` holds; it holds at 0.
private func bisect(_ isBelow: (Double) -> Bool) -> Double {
    var (low, high) = (0.0, 1.0)
    for _ in 0..<100 {
        let middle = (low + high) / 2
        if isBelow(middle) { low = middle } else { high = middle }
    }
    return (low + high) / 2
}

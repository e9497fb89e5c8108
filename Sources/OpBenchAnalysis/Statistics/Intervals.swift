import Glibc

/// How often each end of an interval may lie on the wrong side of the truth, at most.
public struct Tails: Equatable, Sendable {
    public var low = 0.025
    public var high = 0.025

    /// Those of an interval of 95 %.
    public static let standard = Tails()
}

/// The fewest values that allow an interval of 95 %: n values all lie on one side of the truth with probability 2^(1−n).
public let minimumForInterval = fewestForInterval(tail: Tails.standard.low)

/// The fewest values, or pairs, that allow an interval whose end misses the truth so rarely. As many in each of two samples
/// always do.
func fewestForInterval(tail: Double) -> Int { Int((-log2(tail)).rounded(.up)) }

/// The interval of the median: two of the values, which hold it as often as they say whatever the distribution (inverted
/// sign test; Hollander and Wolfe, Nonparametric Statistical Methods, section 3.6). Equal values only make it hold more.
///
/// - Returns: nil of too few values, and of values that are not finite. Holds `median(values)` otherwise.
public func medianInterval(of values: [Double], tails: Tails = .standard) -> ClosedRange<Double>? {
    guard values.allSatisfy(\.isFinite) else { return nil }
    let sorted = values.sorted()
    return interval(RankDistribution.sign(of: values.count), tails, of: sorted.count) { sorted[$0] }
}

/// The interval of the centre of values that lie symmetrically about it, as the differences of equal sides do: two of
/// their Walsh averages (Tukey's; the inverted signed-rank test; Hollander and Wolfe, section 3.3).
///
/// - Returns: nil of too few values, and of values that are not finite. Holds `hodgesLehmann(values)` otherwise.
public func hodgesLehmannInterval(of values: [Double], tails: Tails = .standard) -> ClosedRange<Double>? {
    guard values.allSatisfy(\.isFinite) else { return nil }
    return interval(RankDistribution.signedRanks(of: values.count), tails, of: WalshAverages(values.sorted()))
}

/// The interval of the shift between two independent samples: two of the differences between a value of the second and one
/// of the first (Moses's; the inverted Mann–Whitney test; Hollander and Wolfe, section 4.3).
///
/// - Returns: nil of fewer than `minimumForInterval` values in either, however many there are in the other, of too few for the
///   tails, and of values that are not finite. Holds `hodgesLehmannShift(from:to:)` otherwise.
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

/// - Parameter value: the value at a place, from 0, of `count` in order.
private func interval(
    _ distribution: RankDistribution, _ tails: Tails, of count: Int, value: (Int) -> Double
) -> ClosedRange<Double>? {
    guard let low = distribution.place(tail: tails.low), let high = distribution.place(tail: tails.high) else {
        return nil
    }
    return value(low)...value(count - 1 - high)
}

/// The exact interval for a probability of which `successes` of `trials` were seen (Clopper and Pearson 1934): the
/// probabilities that neither tail of the binomial distribution rejects.
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

/// The one-sided upper bound: with that confidence the probability is not greater.
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

/// The probability up to which `isBelow` holds, which it does from 0 on.
private func bisect(_ isBelow: (Double) -> Bool) -> Double {
    var (low, high) = (0.0, 1.0)
    for _ in 0..<100 {
        let middle = (low + high) / 2
        if isBelow(middle) { low = middle } else { high = middle }
    }
    return (low + high) / 2
}

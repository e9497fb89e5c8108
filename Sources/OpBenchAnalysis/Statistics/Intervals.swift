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

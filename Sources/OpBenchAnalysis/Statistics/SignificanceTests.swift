import Glibc

/// The two-sided p-value of two independent samples by the Mann–Whitney test: the probability that their ranks are
/// divided at least as unevenly if both come from one distribution.
///
/// Exact, ties included, for up to `exactMannWhitneyLimit` values in both samples: the subsets of the ranks are counted
/// by their sum. Beyond, the normal approximation with corrections for ties and continuity.
///
/// - Returns: nil if a sample is empty.
public func mannWhitneyTest(_ first: [Double], _ second: [Double]) -> Double? {
    guard !first.isEmpty, !second.isEmpty else { return nil }
    let ranks = doubledRanks(of: first + second)
    let sum = ranks[..<first.count].reduce(0, +)
    return ranks.count <= exactMannWhitneyLimit
        ? exactProbability(of: sum, drawing: first.count, from: ranks)
        : approximateProbability(of: sum, drawing: first.count, from: ranks)
}

public let exactMannWhitneyLimit = 60

/// Twice the rank of each value, from 2; equal values share the mean of their ranks, which is whole when doubled.
private func doubledRanks(of values: [Double]) -> [Int] {
    let order = values.indices.sorted { values[$0] < values[$1] }
    var ranks = Array(repeating: 0, count: values.count)
    var start = 0
    while start < order.count {
        var end = start + 1
        while end < order.count, values[order[end]] == values[order[start]] { end += 1 }
        for place in start..<end { ranks[order[place]] = start + end + 1 }
        start = end
    }
    return ranks
}

/// The fraction of all subsets of that size whose sum is at least as far from the expected one.
private func exactProbability(of sum: Int, drawing count: Int, from ranks: [Int]) -> Double {
    let total = ranks.reduce(0, +)
    let width = total + 1
    // Of k of the ranks seen so far, subsets[k * width + s] have the sum s.
    var subsets = Array(repeating: 0.0, count: (count + 1) * width)
    subsets[0] = 1
    subsets.withUnsafeMutableBufferPointer { subsets in
        let subsets = subsets.baseAddress!
        var reached = 0
        for (seen, rank) in ranks.enumerated() {
            reached += rank
            // From the greatest on, so that no subset has the rank twice.
            var size = min(count, seen + 1)
            while size > 0 {
                let (own, smaller) = (subsets + size * width, subsets + (size - 1) * width - rank)
                var sum = reached
                while sum >= rank {
                    own[sum] += smaller[sum]
                    sum -= 1
                }
                size -= 1
            }
        }
    }
    // In units that keep whole numbers: the distance from count · total ÷ ranks.count, times ranks.count.
    func distance(_ sum: Int) -> Int { abs(sum * ranks.count - count * total) }
    let observed = distance(sum)
    var (reaching, all) = (0.0, 0.0)
    for (sum, number) in subsets[(count * width)...].enumerated() where number > 0 {
        all += number
        if distance(sum) >= observed { reaching += number }
    }
    return reaching / all
}

private func approximateProbability(of sum: Int, drawing count: Int, from ranks: [Int]) -> Double {
    let (first, all) = (Double(count), Double(ranks.count))
    let second = all - first
    let statistic = Double(sum) / 2 - first * (first + 1) / 2
    let sizesOfTies = Dictionary(ranks.map { ($0, 1.0) }, uniquingKeysWith: +).values
    let tied = sizesOfTies.map { $0 * $0 * $0 - $0 }.reduce(0, +)
    let variance = first * second / 12 * (all + 1 - tied / (all * (all - 1)))
    guard variance > 0 else { return 1 }
    let deviation = max(0, (statistic - first * second / 2).magnitude - 0.5) / variance.squareRoot()
    return min(1, erfc(deviation / 2.0.squareRoot()))
}

/// The two-sided p-value of paired differences by the exact sign-flip permutation test (Fisher's randomization test).
/// If neither side is slower, each difference is as likely to have the other sign, so p is the fraction of all 2ⁿ sign
/// patterns whose sum is at least as far from zero as the observed one.
///
/// All patterns are counted without listing them: the sums of each half's patterns are sorted, and two pointers that
/// run against each other count the pairs that reach the observed sum, in time about 2^(n/2).
///
/// - Parameter differences: at most `signFlipLimit`, such as log-ratios of the sides of each block.
/// - Returns: a value from 2^(1−n) to 1; nil if there are no differences, or more than the limit.
public func signFlipTest(_ differences: [Double]) -> Double? {
    guard !differences.isEmpty, differences.count <= signFlipLimit else { return nil }
    let magnitudes = differences.map(\.magnitude)
    // Sums of the same values in another order differ in their last digits and count as equal.
    let tolerance = magnitudes.reduce(0, +) * 1e-12
    let observed = differences.reduce(0, +).magnitude - tolerance
    if observed <= 0 { return 1 }

    let half = differences.count / 2
    let left = signedSums(of: magnitudes[..<half])
    let right = signedSums(of: magnitudes[half...])
    // Both tails have the same number of patterns: flipping every sign maps one to the other.
    var reaching = 0.0
    var firstOfRight = right.endIndex
    for sum in left {
        while firstOfRight > 0, sum + right[firstOfRight - 1] >= observed { firstOfRight -= 1 }
        reaching += Double(right.count - firstOfRight)
    }
    return min(1, 2 * reaching / (Double(left.count) * Double(right.count)))
}

/// More differences would take more than about 100 ms; no plan of blocks has so many.
public let signFlipLimit = 40

/// The sums of all 2ⁿ sign patterns, ascending.
private func signedSums(of magnitudes: ArraySlice<Double>) -> [Double] {
    var sums = [0.0]
    for magnitude in magnitudes { sums = sums.map { $0 - magnitude } + sums.map { $0 + magnitude } }
    return sums.sorted()
}

/// The probability of at least `least` marked ones among those drawn, without replacement: the one-sided p-value of
/// Fisher's exact test.
func hypergeometricTail(from least: Int, drawing drawn: Int, of all: Int, marked: Int) -> Double {
    func logBinomial(_ n: Int, _ k: Int) -> Double {
        lgamma(Double(n) + 1) - lgamma(Double(k) + 1) - lgamma(Double(n - k) + 1)
    }
    let possible = max(0, drawn - (all - marked))...min(drawn, marked)
    if least <= possible.lowerBound { return 1 }
    return possible.filter { $0 >= least }.reduce(0) { sum, found in
        sum + exp(logBinomial(marked, found) + logBinomial(all - marked, drawn - found) - logBinomial(all, drawn))
    }
}

/// Holm's step-down adjustment: the p-values, in the same order, raised so that rejecting those below alpha keeps the
/// probability of any false rejection below alpha, however the tests depend on each other.
public func holmAdjusted(_ probabilities: [Double]) -> [Double] {
    let order = probabilities.indices.sorted { probabilities[$0] < probabilities[$1] }
    var adjusted = probabilities
    var greatest = 0.0
    for (place, index) in order.enumerated() {
        greatest = max(greatest, min(1, probabilities[index] * Double(probabilities.count - place)))
        adjusted[index] = greatest
    }
    return adjusted
}

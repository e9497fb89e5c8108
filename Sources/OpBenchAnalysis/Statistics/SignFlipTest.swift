/// The two-sided p-value of paired differences by the exact sign-flip permutation test (Fisher's randomization test):
/// if neither side is slower, each difference is as likely to have come out with the other sign, so p is the share of
/// all 2ⁿ sign patterns whose sum is at least as far from zero as the observed one.
///
/// All patterns are counted, without listing them: the sums of each half's patterns are sorted, and the pairs that
/// reach the observed sum are counted by two pointers that run against each other, in time about 2^(n/2).
///
/// - Parameter differences: at most `signFlipLimit` of them, such as log-ratios of the sides of one block each.
/// - Returns: from 2^(1−n) to 1; nil of nothing, or of more than the limit.
public func signFlipTest(_ differences: [Double]) -> Double? {
    guard !differences.isEmpty, differences.count <= signFlipLimit else { return nil }
    let magnitudes = differences.map(\.magnitude)
    // Sums of the same values in another order differ in their last digits; those count as equal.
    let tolerance = magnitudes.reduce(0, +) * 1e-12
    let observed = differences.reduce(0, +).magnitude - tolerance
    if observed <= 0 { return 1 }

    let half = differences.count / 2
    let left = signedSums(of: magnitudes[..<half])
    let right = signedSums(of: magnitudes[half...])
    // Both tails have the same number of patterns: flipping every sign leads from one to the other.
    var reaching = 0.0
    var firstOfRight = right.endIndex
    for sum in left {
        while firstOfRight > 0, sum + right[firstOfRight - 1] >= observed { firstOfRight -= 1 }
        reaching += Double(right.count - firstOfRight)
    }
    return min(1, 2 * reaching / (Double(left.count) * Double(right.count)))
}

/// More differences would take more than some 100 ms; no plan of blocks comes near.
public let signFlipLimit = 40

/// The sums of all 2ⁿ sign patterns, ascending.
private func signedSums(of magnitudes: ArraySlice<Double>) -> [Double] {
    var sums = [0.0]
    for magnitude in magnitudes { sums = sums.map { $0 - magnitude } + sums.map { $0 + magnitude } }
    return sums.sorted()
}

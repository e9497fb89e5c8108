import Glibc

/// The distribution of a rank statistic if nothing differs: whole numbers from 0 to `greatest`, symmetric.
///
/// Exact for up to `exactRankLimit` ranked values. Beyond, the normal approximation with a continuity correction, which
/// misses the exact index of an interval's end by at most one.
struct RankDistribution {
    let greatest: Int
    private let deviation: Double
    /// The probability of 0, of at most 1, and so on, up to the middle; empty beyond the limit.
    private let exact: [Double]

    static let exactRankLimit = 100

    /// The distribution of the number of values below the median (sign test).
    static func sign(of count: Int) -> RankDistribution {
        RankDistribution(greatest: count, deviation: Double(count).squareRoot() / 2, ranked: count) {
            var ways = [1.0]
            for chosen in 0..<count / 2 { ways.append(ways[chosen] * Double(count - chosen) / Double(chosen + 1)) }
            return (ways, exp2(Double(count)))
        }
    }

    /// The distribution of the sum of the ranks of the values above the centre, ranked by distance from it (Wilcoxon's
    /// signed ranks). Counts the sums of all subsets of the ranks.
    static func signedRanks(of count: Int) -> RankDistribution {
        let (n, greatest) = (Double(count), count * (count + 1) / 2)
        let deviation = (n * (n + 1) * (2 * n + 1) / 24).squareRoot()
        return RankDistribution(greatest: greatest, deviation: deviation, ranked: count) {
            var ways = [1.0] + Array(repeating: 0.0, count: greatest / 2)
            for rank in stride(from: 1, through: min(count, greatest / 2), by: 1) {
                for sum in stride(from: greatest / 2, through: rank, by: -1) { ways[sum] += ways[sum - rank] }
            }
            return (ways, exp2(n))
        }
    }

    /// The distribution of the number of pairs whose greater value is in the first of two samples (Mann and Whitney's
    /// U). The frequency of each number among all orders of the values is a coefficient of the Gaussian binomial ∏ (1 −
    /// qⁿ⁺ⁱ) ÷ (1 − qⁱ), i = 1…m.
    static func rankSum(of first: Int, and second: Int) -> RankDistribution {
        let (m, n) = (Double(first), Double(second))
        let deviation = (m * n * (m + n + 1) / 12).squareRoot()
        return RankDistribution(greatest: first * second, deviation: deviation, ranked: first + second) {
            var ways = [1.0] + Array(repeating: 0.0, count: first * second / 2)
            var orders = 1.0
            for factor in 1...first {
                for sum in stride(from: ways.count - 1, through: second + factor, by: -1) {
                    ways[sum] -= ways[sum - second - factor]
                }
                for sum in stride(from: factor, to: ways.count, by: 1) { ways[sum] += ways[sum - factor] }
                orders *= Double(second + factor) / Double(factor)
            }
            return (ways, orders)
        }
    }

    /// - Parameters:
    ///   - ranked: the number of ranked values.
    ///   - count: the numbers of equally likely outcomes with the statistic 0, 1, … up to the middle, and of all
    ///     outcomes.
    private init(greatest: Int, deviation: Double, ranked: Int, count: () -> (ways: [Double], all: Double)) {
        self.greatest = greatest
        self.deviation = deviation
        guard ranked <= Self.exactRankLimit else {
            exact = []
            return
        }
        let (ways, all) = count()
        var sum = 0.0
        exact = ways.map {
            sum += $0
            return sum / all
        }
    }

    /// The probability of at most `value`, which is not above the middle.
    func probability(upTo value: Int) -> Double {
        if !exact.isEmpty { return exact[value] }
        return erfc((Double(greatest) / 2 - Double(value) - 0.5) / deviation / 2.0.squareRoot()) / 2
    }

    /// The index, from 0, of the order statistic at the low end of an interval; the high end has the same index from
    /// above. It is the greatest index whose end misses the truth with a probability of at most `tail`. Nil if even the
    /// least value misses it more often.
    ///
    /// - Parameter tail: less than a half, so the low end is not above the middle.
    func place(tail: Double) -> Int? {
        precondition(tail < 0.5, "the low end must not pass the middle")
        var (fitting, next) = (0, greatest / 2 + 1)
        while fitting < next {
            let middle = (fitting + next) / 2
            if probability(upTo: middle) <= tail { fitting = middle + 1 } else { next = middle }
        }
        return fitting > 0 ? fitting - 1 : nil
    }
}

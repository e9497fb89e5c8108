import OpBenchModel

/// Whether the rounds of a sample had reached a steady state, or still grew faster or slower while they were counted.
///
/// The trend is Theil and Sen's: the median of the slopes between all pairs, which a disturbed round does not bend. That
/// there is one at all is Mann and Kendall's to tell, who ask only how many pairs rise and how many fall.
struct Steadiness {
    /// Rounds in the order in which they were run, several added up to one where there are many.
    private var times: [Int64] = []
    private var roundsEach = 1
    private var unfinished: (rounds: Int, nanoseconds: Int64) = (0, 0)

    /// Pairs grow with the square.
    private static let mostTimes = 64
    /// Fewer tell nothing.
    private static let fewestTimes = 8
    /// A change of less from the first round to the last is as good as none.
    static let tolerance = 0.1
    /// Of the normal distribution: one sample in a hundred without a trend passes for one with it.
    private static let criticalScore = 2.58

    mutating func add(_ nanoseconds: Int64) {
        unfinished = (unfinished.rounds + 1, unfinished.nanoseconds + nanoseconds)
        guard unfinished.rounds == roundsEach else { return }
        times.append(unfinished.nanoseconds)
        unfinished = (0, 0)
        guard times.count == Self.mostTimes else { return }
        times = stride(from: 0, to: times.count, by: 2).map { times[$0] + times[$0 + 1] }
        roundsEach *= 2
    }

    /// By what part of its median a round's time grew from the first to the last; nil for too few rounds to tell.
    var trend: Double? {
        guard times.count >= Self.fewestTimes else { return nil }
        var slopes: [Double] = []
        forPairs { earlier, later in slopes.append(Double(times[later] - times[earlier]) / Double(later - earlier)) }
        let median = Double(times.sorted()[times.count / 2])
        return slopes.sorted()[slopes.count / 2] * Double(times.count - 1) / max(1, median)
    }

    /// Whether there is a trend, and one that matters.
    var isUnsteady: Bool {
        guard let trend, abs(trend) > Self.tolerance else { return false }
        var sum = 0
        forPairs { earlier, later in sum += Int((times[later] - times[earlier]).signum()) }
        let count = Double(times.count)
        let deviation = (count * (count - 1) * (2 * count + 5) / 18).squareRoot()
        return Double(abs(sum) - 1) / deviation > Self.criticalScore
    }

    private func forPairs(_ body: (Int, Int) -> Void) {
        for later in times.indices { for earlier in 0..<later { body(earlier, later) } }
    }

    func report(operations: Int, into report: inout SampleReport) {
        guard let trend else { return }
        report.add(.roundTrend, "mean", trend, operations: operations)
        if isUnsteady { report.flags.append("unsteady") }
    }
}

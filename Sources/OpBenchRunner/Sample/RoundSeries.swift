import OpBenchModel

/// The total times of a sample's rounds in order, which show whether they were on one level.
struct RoundSeries {
    /// The times of rounds; if there are many, several rounds are summed into one.
    private(set) var times: [Int64] = []
    private var roundsEach = 1
    private var unfinished: (rounds: Int, nanoseconds: Int64) = (0, 0)

    private static let mostTimes = 64
    /// Fewer times show no levels.
    static let fewestTimes = 16

    mutating func add(_ nanoseconds: Int64) {
        unfinished = (unfinished.rounds + 1, unfinished.nanoseconds + nanoseconds)
        guard unfinished.rounds == roundsEach else { return }
        times.append(unfinished.nanoseconds)
        unfinished = (0, 0)
        guard times.count == Self.mostTimes else { return }
        times = stride(from: 0, to: times.count, by: 2).map { times[$0] + times[$0 + 1] }
        roundsEach *= 2
    }

    /// Reports the change of enough times; the flag `unsteady` marks several levels.
    func report(operationsPerRound: Int, into report: inout SampleReport) {
        guard let course = RoundCourse(times.map(Double.init)) else { return }
        let rounds = times.count * roundsEach + unfinished.rounds
        report.add(.roundChange, "mean", course.change, phase: "total", operations: operationsPerRound * rounds)
        if !course.isFlat { report.flags.append(.unsteady) }
    }
}

/// The course of a series of times: the levels between its change points, as Barrett et al. compare them (2017,
/// "Virtual machine warmup blows hot and cold").
struct RoundCourse {
    /// Whether all levels are equal to the last.
    let isFlat: Bool
    /// The mean of the last segment ÷ that of the first, less 1.
    let change: Double

    /// Levels that differ by less, relative to the last, are equivalent, as are those within the noise.
    static let tolerance = 0.05

    /// Nil for fewer than `RoundSeries.fewestTimes`.
    init?(_ times: [Double]) {
        guard times.count >= RoundSeries.fewestTimes, times.contains(where: { $0 > 0 }) else { return nil }
        let found = Segmentation(of: Self.withoutOutliers(times))
        let (first, last) = (found.segments[0], found.segments[found.segments.count - 1])
        guard first.mean > 0 else { return nil }
        change = last.mean / first.mean - 1
        let margin = max(Self.tolerance * last.mean, found.deviation)
        isFlat = found.segments.allSatisfy { abs($0.mean - last.mean) <= margin }
    }

    /// The series with the running median in place of times far from it, which are single disturbances (Hampel's
    /// filter).
    static func withoutOutliers(_ times: [Double]) -> [Double] {
        let medians = times.indices.map { index in
            median(Array(times[max(0, index - halfWindow)...min(times.count - 1, index + halfWindow)]))!
        }
        let scale = 1.4826 * median(zip(times, medians).map { abs($0 - $1) })!
        return zip(times, medians).map { abs($0 - $1) > mostDeviations * scale ? $1 : $0 }
    }

    private static let halfWindow = 3
    private static let mostDeviations = 4.0
}

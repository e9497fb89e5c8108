import CLinux
import OpBenchBackends
import OpBenchModel

/// A throughput sample: rounds without time stamps, and the times of their phases.
struct ThroughputTrial {
    let trial: Trial
    let competitors: Competitors

    func run(_ producers: Producers, into report: inout SampleReport) {
        let body = OperationBody(plan: trial.plan, kernel: trial.kernel, mode: .marked)
        defer { body.deallocate() }
        var times = PhaseTimes()
        var usage = ResourceUsage()
        var steadiness = Steadiness()
        let isLongEnough = trial.repeatRounds {
            let before = ResourceUsage.now(without: competitors)
            let round = Round.run(trial.plan, by: trial.factory, body, producers: producers)
            usage.add(from: before, to: .now(without: competitors))
            usage.subtract(round.pausedUsage)
            times.add(round)
            steadiness.add(round.total)
            trial.judge(body, into: &report)
            body.reset()
            return round.elapsed
        }
        if !isLongEnough { report.flags.append("short") }
        times.report(plan: trial.plan, into: &report)
        reportEfficiency(times, into: &report)
        let operations = trial.plan.operationCount * times.rounds
        usage.report(operations: operations, into: &report)
        steadiness.report(operations: operations, into: &report)
        if trial.factory.id == .serial { reportProbeCost(producers, into: &report) }
    }

    /// Reports how close the makespan comes to the bound by work and span on this machine.
    private func reportEfficiency(_ times: PhaseTimes, into report: inout SampleReport) {
        let processors = max(1, Int(clinux_allowed_processors()))
        guard let ideal = trial.plan.idealMakespan(processors: processors), times.makespan > 0 else { return }
        report.add(
            .schedulingEfficiency, "mean", ideal * Double(times.rounds) / Double(times.makespan), phase: "makespan",
            operations: trial.plan.operationCount * times.rounds)
    }

    /// Reports the cost of the marking store per operation: the fastest of many rounds with it, less the fastest of as
    /// many without. The rounds alternate, and have no work, which would hide the cost.
    private func reportProbeCost(_ producers: Producers, into report: inout SampleReport) {
        var idle = trial.plan
        idle.workNanoseconds = 0
        let body = OperationBody(plan: idle, kernel: trial.kernel, mode: .marked)
        defer { body.deallocate() }
        var fastest = (marked: Int64.max, bare: Int64.max)
        let end = MonotonicClock.now() + trial.targetNanoseconds / 10
        repeat {
            body.setMarks(true)
            fastest.marked = min(fastest.marked, Round.run(idle, by: trial.factory, body, producers: producers).total)
            body.setMarks(false)
            fastest.bare = min(fastest.bare, Round.run(idle, by: trial.factory, body, producers: producers).total)
        } while MonotonicClock.now() < end
        let operations = idle.operationCount
        report.add(
            .probeCost, "mean", Double(fastest.marked - fastest.bare) / Double(operations), operations: operations)
    }
}

/// Whether the rounds of a sample had reached a steady state, or still became faster or slower while they were counted.
///
/// The trend is the Theil–Sen estimator: the median of the slopes between all pairs, which is robust against a
/// disturbed round. The Mann–Kendall test decides whether there is a trend: it compares the numbers of rising and
/// falling pairs.
struct Steadiness {
    /// Times of rounds in order; if there are many, several rounds are summed into one.
    private var times: [Int64] = []
    private var roundsEach = 1
    private var unfinished: (rounds: Int, nanoseconds: Int64) = (0, 0)

    /// Limits the number of pairs, which grows with the square.
    private static let mostTimes = 64
    /// The least number of times for a test.
    private static let fewestTimes = 8
    /// Smaller relative changes from the first round to the last do not matter.
    static let tolerance = 0.1
    /// A quantile of the normal distribution: one sample in a hundred without a trend seems to have one.
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

    /// The growth of a round's time from the first to the last, as a part of the median; nil if there are too few
    /// rounds.
    var trend: Double? {
        guard times.count >= Self.fewestTimes else { return nil }
        var slopes: [Double] = []
        forPairs { earlier, later in slopes.append(Double(times[later] - times[earlier]) / Double(later - earlier)) }
        guard let slope = median(slopes), let middle = median(times.map(Double.init)) else { return nil }
        return slope * Double(times.count - 1) / max(1, middle)
    }

    /// Whether there is a trend that matters.
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

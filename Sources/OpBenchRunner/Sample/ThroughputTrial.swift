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
        var series = RoundSeries()
        let isLongEnough = trial.repeatRounds {
            let before = ResourceUsage.now(without: competitors)
            let round = Round.run(trial.plan, by: trial.factory, body, producers: producers)
            usage.add(from: before, to: .now(without: competitors))
            usage.subtract(round.pausedUsage)
            times.add(round)
            series.add(round.total)
            trial.judge(body, into: &report)
            body.reset()
            return round.elapsed
        }
        if !isLongEnough { report.flags.append(.short) }
        times.report(plan: trial.plan, into: &report)
        reportEfficiency(times, into: &report)
        let operations = trial.plan.operationCount * times.rounds
        usage.report(operations: operations, into: &report)
        series.report(operationsPerRound: trial.plan.operationCount, into: &report)
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
        (idle.workNanoseconds, idle.body) = (0, nil)
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

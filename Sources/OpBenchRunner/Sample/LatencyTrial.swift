import OpBenchBackends
import OpBenchModel

/// A latency sample: rounds in which every operation has time stamps, or the search for the highest sustained rate.
struct LatencyTrial {
    let trial: Trial

    func run(_ producers: Producers, into report: inout SampleReport) {
        if !trial.plan.hasCompletionBlocks, !trial.plan.isRefill {
            report.note("no notified stage: this workload has no completion blocks")
        }
        if let search = RateSearch(trial) { return search.run(into: &report) }
        if let load = trial.plan.arrivals?.load {
            guard let loaded = CapacityTrial(trial).trial(at: load, into: &report) else { return }
            let producers = Producers(loaded.plan)
            defer { producers.dismiss() }
            return LatencyTrial(trial: loaded).measure(producers, into: &report)
        }
        measure(producers, into: &report)
    }

    private func measure(_ producers: Producers, into report: inout SampleReport) {
        let body = OperationBody(plan: trial.plan, kernel: trial.kernel, mode: .stamped)
        defer { body.deallocate() }
        var analysis = RoundAnalysis(plan: trial.plan)
        var rounds = 0
        var perturbation = SelfPerturbation(limitNanoseconds: trial.targetNanoseconds / 2)
        let isLongEnough = trial.repeatRounds {
            let round = Round.run(trial.plan, by: trial.factory, body, producers: producers)
            analysis.add(round, body)
            rounds += 1
            trial.judge(body, into: &report)
            body.reset()
            // The plan determines the duration of an open loop.
            if trial.plan.isOpenLoop { return round.elapsed }
            perturbation.compare(with: round) {
                body.setStamps(false)
                defer { body.setStamps(true) }
                let plain = Round.run(trial.plan, by: trial.factory, body, producers: producers)
                trial.judge(body, into: &report)
                body.reset()
                return plain
            }
            return round.elapsed
        }
        if !isLongEnough { report.flags.append(.short) }
        analysis.report(rounds: rounds, into: &report)
        perturbation.report(operations: trial.plan.operationCount, into: &report)
    }
}

/// The effect of a latency sample's time stamps on the measured times: rounds with stamps are compared with rounds
/// without, alternating in the same process.
struct SelfPerturbation {
    /// Rounds without stamps continue until they have lasted this long.
    let limitNanoseconds: Int64
    private var plainNanoseconds: Int64 = 0
    private var ratios: [Double] = []

    init(limitNanoseconds: Int64) { self.limitNanoseconds = limitNanoseconds }

    /// Takes a round without stamps to compare with one with stamps, unless there are enough.
    mutating func compare(with stamped: Round, takePlain: () -> Round) {
        guard ratios.isEmpty || plainNanoseconds < limitNanoseconds else { return }
        let plain = takePlain()
        plainNanoseconds += plain.total
        ratios.append(Double(stamped.total) / Double(max(1, plain.total)))
    }

    /// The median ratio over the pairs.
    var ratio: Double? { median(ratios) }

    func report(operations: Int, into report: inout SampleReport) {
        guard let ratio else { return }
        report.add(.selfPerturbation, "p50", ratio, operations: operations * ratios.count)
    }
}

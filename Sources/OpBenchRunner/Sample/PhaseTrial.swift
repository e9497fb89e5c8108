import OpBenchBackends
import OpBenchModel

/// What one phase needs and leaves.
final class PhaseTrial {
    let name: String
    let plan: WorkloadPlan
    private let trial: Trial
    private let body: OperationBody
    private let producers: Producers
    private(set) var times = PhaseTimes()
    private(set) var usage = ResourceUsage()
    private(set) var analysis: RoundAnalysis
    private(set) var highWater = 0

    init(_ phase: PhasePlan, _ trial: Trial) {
        (name, plan, self.trial) = (phase.name, phase.plan, trial)
        let mode: OperationBody.Mode =
            switch trial.flavour.kind {
            case .throughput, .memory: .marked
            case .latency: .stamped
            case .check: .checked
            }
        body = OperationBody(plan: plan, kernel: trial.kernel, mode: mode)
        producers = Producers(plan)
        analysis = RoundAnalysis(plan: plan)
    }

    func run(_ keeper: QueueKeeper?, into report: inout SampleReport) -> Int64 {
        let before = ResourceUsage.now()
        let round = Round.run(plan, by: trial.factory, body, producers: producers, keeper: keeper)
        usage.add(from: before, to: .now())
        usage.subtract(round.pausedUsage)
        times.add(round)
        var violations = plan.violations(of: body.traces)
        if trial.flavour.kind != .throughput { analysis.add(round, body) }
        if trial.flavour.kind == .check {
            violations += GuaranteeCheck(plan: plan, guarantees: trial.factory.guarantees).violations(
                of: body, analysis)
            violations += PacingCheck(plan: plan).violations(of: body, round.pace)
        }
        trial.fail(violations.map { "phase \(name): \($0)" }, into: &report)
        highWater = max(highWater, body.highWater)
        body.reset()
        return round.elapsed
    }

    /// Ends its threads and frees its traces. Nothing may run it any more.
    func end() {
        producers.dismiss()
        body.deallocate()
    }
}

import OpBenchBackends
import OpBenchModel

/// A check sample: one round, counted with atomics and checked against the backend's guarantees.
struct CheckTrial {
    let trial: Trial

    func run(_ producers: Producers, into report: inout SampleReport) {
        let body = OperationBody(plan: trial.plan, kernel: trial.kernel, mode: .checked)
        defer { body.deallocate() }
        let round = Round.run(trial.plan, by: trial.factory, body, producers: producers)
        var analysis = RoundAnalysis(plan: trial.plan)
        analysis.add(round, body)
        trial.judge(body, into: &report)
        let verdict = GuaranteeCheck(plan: trial.plan, guarantees: trial.factory.guarantees)
        trial.fail(
            verdict.violations(of: body, analysis) + PacingCheck(plan: trial.plan).violations(of: body, round.pace),
            into: &report)
        report.add(.highWater, "max", Double(body.highWater), operations: trial.plan.operationCount)
    }
}

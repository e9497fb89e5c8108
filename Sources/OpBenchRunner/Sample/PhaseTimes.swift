import CLinux
import OpBenchBackends
import OpBenchModel

/// The summed phase times of all rounds of a sample, in nanoseconds.
struct PhaseTimes {
    private(set) var rounds = 0
    private(set) var build: Int64 = 0
    private(set) var submit: Int64 = 0
    private(set) var cancel: Int64 = 0
    private(set) var drain: Int64 = 0
    private(set) var teardown: Int64 = 0
    private(set) var total: Int64 = 0
    private(set) var makespan: Int64 = 0
    private(set) var releaseFaults = 0
    /// The spread of the rounds of `total`.
    private var spread = RoundSpread()

    mutating func add(_ round: Round) {
        rounds += 1
        build += round.build
        submit += round.submit
        cancel += round.cancel
        drain += round.drain
        teardown += round.teardown
        total += round.total
        spread.add(round.total)
        makespan += round.makespan
        releaseFaults += round.releaseFaults
    }

    /// Adds the figures. If submitting cannot be separated from draining, `drain` includes both.
    func report(plan: WorkloadPlan, into report: inout SampleReport) {
        let operations = plan.operationCount * rounds
        var phases = [("build", build), ("submit", submit), ("drain", drain)]
        if plan.submitsWhileDraining { phases = [("build", build), ("drain", submit + drain)] }
        phases += [("teardown", teardown), ("total", total), ("makespan", makespan)]
        for (name, time) in phases { report.add(.time, "total", Double(time), phase: name, operations: operations) }
        reportFeatures(of: plan, into: &report)
        let total = seconds(max(1, total))
        report.add(
            .operationThroughput, "rate", Double(operations) / total, phase: "total", operations: operations)
        report.add(
            .itemThroughput, "rate", Double(plan.itemCount * rounds) / total, phase: "total", operations: operations)
        report.add(.rounds, "total", Double(rounds), operations: operations)
        spread.report(operations: operations, into: &report)
    }

    private func reportFeatures(of plan: WorkloadPlan, into report: inout SampleReport) {
        if let chosen = plan.cancellation?.chosenCount, chosen > 0 {
            report.add(.time, "total", Double(cancel), phase: "cancel", operations: chosen * rounds)
        }
        if plan.ballast != nil {
            let operations = plan.operationCount * rounds
            report.add(.releaseTime, "total", Double(drain + teardown), phase: "released", operations: operations)
            report.add(.pageFaults, "total", Double(releaseFaults), phase: "released", operations: operations)
        }
        if let ideal = plan.idealBlockedMakespan(processors: max(1, Int(clinux_allowed_processors()))) {
            report.add(
                .makespanRatio, "total", Double(makespan) / Double(ideal * rounds), phase: "makespan",
                operations: plan.operationCount * rounds)
        }
    }
}

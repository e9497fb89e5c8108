import CLinux
import OpBenchBackends
import OpBenchModel

/// Holds a check sample against what its backend promises.
struct GuaranteeCheck {
    let plan: WorkloadPlan
    let guarantees: Guarantees

    /// In words; empty if every promise was kept.
    func violations(of body: OperationBody, _ analysis: RoundAnalysis) -> [String] {
        var violations: [String] = []
        if plan.detail?.runsEveryBody ?? true, body.countedRuns != plan.operationCount {
            violations.append("\(body.countedRuns) bodies ran for \(plan.operationCount) operations")
        }
        // A limit is one of groups, whose blocks run beside one another.
        if guarantees.contains(.limit), let limit = plan.limit, plan.detail?.groupSize ?? 1 == 1,
            body.highWater > limit * queueCount
        {
            violations.append("\(body.highWater) operations ran at once at limit \(limit)")
        }
        if guarantees.contains(.priorityOrder), plan.limit == 1, analysis.inversions > 0 {
            violations.append("\(analysis.inversions) operations started before a more urgent one at limit 1")
        }
        if guarantees.contains(.suspension), analysis.mostStartsInAHold > slots(body) {
            violations.append("\(analysis.mostStartsInAHold) operations started after suspend had returned")
        }
        return violations
    }

    private var queueCount: Int { plan.chains?.queues ?? 1 }

    /// The slots that may have been running: the limit, or else as many as were seen, and one a core at least.
    private func slots(_ body: OperationBody) -> Int {
        plan.limit ?? max(body.highWater, max(1, Int(clinux_allowed_processors())))
    }
}

import OpBenchBackends
import OpBenchModel

/// What the serial loop would have left behind, held against what a backend left: every operation's mark, and the sum of
/// the items done.
enum OutcomeCheck {
    /// The violations of one round, in words; empty if there are none.
    static func violations(of body: OperationBody, in plan: WorkloadPlan) -> [String] {
        var violations: [String] = []
        if let cancellation = plan.cancellation {
            return CancellationCheck(plan: plan, cancellation: cancellation).violations(of: body)
        }
        if let notices = plan.noticesPerOperation {
            return NoticeCheck(plan: plan, noticesPerOperation: notices).violations(of: body)
        }
        if plan.barrierEvery != nil { return BarrierCheck(plan: plan).violations(of: body) }
        if plan.groupSize > 1 { violations += GroupCheck(plan: plan).violations(of: body) }
        var missing = 0
        var early = 0
        var repeated = 0
        var items = 0
        for operation in 0..<plan.operationCount {
            let (found, expected) = (body.slot(operation), plan.expectedMark(of: operation))
            if found == 0 {
                missing += 1
            } else if found < expected {
                early += 1
            } else if found > expected {
                repeated += 1
            }
            if found > 0 { items += operation == plan.operationCount - 1 ? plan.lastItems : plan.itemsPerOperation }
        }
        if missing > 0 { violations.append("\(missing) operations did not run") }
        if repeated > 0 { violations.append("\(repeated) operations ran, or follow one that ran, more than once") }
        if early > 0 {
            violations.append("\(early) operations ran before, or follow one that ran before, a predecessor")
        }
        if items != plan.itemCount { violations.append("\(items) items of \(plan.itemCount) were done") }
        return violations
    }
}

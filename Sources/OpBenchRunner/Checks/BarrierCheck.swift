import OpBenchBackends

/// The outcome where some operations are barriers. A slot holds one more than the number of barriers that had ended when
/// the operation ran; `OperationBody.besideBarrier` is added if that number changed meanwhile.
struct BarrierCheck {
    let plan: WorkloadPlan

    /// In words; empty if there are none.
    func violations(of body: OperationBody) -> [String] {
        var (missing, early, late) = (0, 0, 0)
        for operation in 0..<plan.operationCount {
            let (found, expected) = (Int(body.slot(operation)), plan.barriersBefore(operation) + 1)
            if found == 0 {
                missing += 1
            } else if found < expected {
                early += 1
            } else if found > expected {
                late += 1
            }
        }
        var violations: [String] = []
        if missing > 0 { violations.append("\(missing) operations did not run") }
        if early > 0 { violations.append("\(early) operations ran before a barrier that they are behind") }
        if late > 0 {
            violations.append("\(late) operations ran twice, beside a barrier or after one that is behind them")
        }
        let beside = body.takesStamps ? operationsBesideBarriers(body) : 0
        if beside > 0 {
            violations.append("\(beside) operations were running when a barrier began, or began before its end")
        }
        return violations
    }

    /// By the time stamps, which see an overlap of any length.
    private func operationsBesideBarriers(_ body: OperationBody) -> Int {
        guard let every = plan.barrierEvery, body.read(.start, 0) > 0 else { return 0 }
        var count = 0
        var barrierEnd: Int64 = 0
        for first in stride(from: 0, to: plan.operationCount, by: every) {
            let barrier = first + every - 1
            let start = barrier < plan.operationCount ? body.read(.start, barrier) : .max
            for operation in first..<min(barrier, plan.operationCount)
            where body.read(.end, operation) > start || body.read(.start, operation) < barrierEnd {
                count += 1
            }
            if barrier < plan.operationCount { barrierEnd = body.read(.end, barrier) }
        }
        return count
    }
}

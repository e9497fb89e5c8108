/// What the serial loop would have left behind, held against what a backend left: every operation's mark, and the sum of
/// the items done.
package enum MarkCheck {
    /// In words; empty if there are none.
    package static func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        violations(of: traces, in: plan) { plan.expectedMark(of: $0) }
    }

    /// - Parameter expectedMark: what an operation's slot holds after one correct round.
    @inline(__always)
    static func violations(
        of traces: RoundTraces, in plan: WorkloadPlan, expectedMark: (Int) -> UInt32
    ) -> [String] {
        var violations: [String] = []
        var missing = 0
        var early = 0
        var repeated = 0
        var items = 0
        for operation in 0..<plan.operationCount {
            let (found, expected) = (traces.slot(operation), expectedMark(operation))
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

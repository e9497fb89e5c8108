/// What a plan has for its shape alone: a value of a type that the shape's file declares.
///
/// Backends and trials take it out of the plan before the clock starts or once a round, never for each operation.
package protocol ShapeDetail: Sendable {
    /// How many successive operations of the plan make up one that is submitted. A limit is one of such groups.
    var groupSize: Int { get }
    /// Whether the body of every operation runs.
    var runsEveryBody: Bool { get }
    /// The most operations that a warm-up runs.
    var warmUpLimit: Int { get }
    /// The same for a warm-up of the first operations; nil where a warm-up does without.
    func shortened(to operations: Int) -> (any ShapeDetail)?
    /// What is wrong with what a round left, in words; empty if nothing is. Called after the clock has stopped.
    func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String]
}

extension ShapeDetail {
    package var groupSize: Int { 1 }
    package var runsEveryBody: Bool { true }
    package var warmUpLimit: Int { .max }
    package func shortened(to operations: Int) -> (any ShapeDetail)? { self }
    package func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        MarkCheck.violations(of: traces, in: plan)
    }
}

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

/// The outcome where an operation's slot counts its runs in the lower half, and in the upper half how often an observer
/// was told of it, or its end was announced.
struct NoticeCheck {
    let noticesPerOperation: Int
    /// What was announced: the operation's `finish` or `end`.
    let announced: String

    /// In words; empty if there are none.
    func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        var (missing, repeated, tooFew, tooMany) = (0, 0, 0, 0)
        for operation in 0..<plan.operationCount {
            let slot = traces.slot(operation)
            let runs = slot % RoundTraces.noticeMark
            let notices = Int(slot / RoundTraces.noticeMark)
            if runs == 0 { missing += 1 }
            if runs > 1 { repeated += 1 }
            if notices < noticesPerOperation { tooFew += 1 }
            if notices > noticesPerOperation { tooMany += 1 }
        }
        var violations: [String] = []
        if missing > 0 { violations.append("\(missing) operations did not run") }
        if repeated > 0 { violations.append("\(repeated) operations ran more than once") }
        if tooFew > 0 { violations.append("the \(announced) of \(tooFew) operations was announced too seldom") }
        if tooMany > 0 { violations.append("the \(announced) of \(tooMany) operations was announced too often") }
        return violations
    }
}

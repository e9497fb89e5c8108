/// The part of a plan that only its shape needs: a value of a type that the shape's file declares.
///
/// Backends and trials take it out of the plan before the clock starts or once per round, never for each operation.
package protocol ShapeDetail: Sendable {
    /// The number of successive operations of the plan that are submitted as one. A limit counts such groups.
    var groupSize: Int { get }
    var runsEveryBody: Bool { get }
    /// The largest number of operations in a warm-up.
    var warmUpLimit: Int { get }
    /// The detail for a warm-up of the first operations; nil if a warm-up needs none.
    func shortened(to operations: Int) -> (any ShapeDetail)?
    /// The violations that a round's traces show, in words. Called after the clock has stopped.
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

/// The words of each finding that was made at least once.
func findings(_ found: (count: Int, words: String)...) -> [String] { found.filter { $0.count > 0 }.map(\.words) }

/// Compares the traces of a backend with those of the serial loop: every operation's mark, and the sum of the items
/// done.
package enum MarkCheck {
    package static func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        violations(of: traces, in: plan) { plan.expectedMark(of: $0) }
    }

    /// - Parameter expectedMark: the value of an operation's slot after one correct round.
    @inline(__always)
    static func violations(
        of traces: RoundTraces, in plan: WorkloadPlan, expectedMark: (Int) -> UInt32
    ) -> [String] {
        var (missing, early, repeated, items) = (0, 0, 0, 0)
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
        return findings(
            (missing, "\(counted(missing, "operation")) did not run"),
            (repeated, "\(counted(repeated, "operation")) ran, or followed one that ran, more than once"),
            (early, "\(counted(early, "operation")) ran before, or followed one that ran before, a predecessor"),
            (abs(items - plan.itemCount), "\(counted(items, "item")) of \(plan.itemCount) done"))
    }
}

/// Checks an outcome where the lower half of an operation's slot counts its runs, and the upper half the notifications
/// of its observer or of its end.
struct NoticeCheck {
    let noticesPerOperation: Int
    /// The announced event: the operation's `finish` or `end`.
    let announced: String

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
        return findings(
            (missing, "\(counted(missing, "operation")) did not run"),
            (repeated, "\(counted(repeated, "operation")) ran more than once"),
            (tooFew, "the \(announced) of \(counted(tooFew, "operation")) was announced too rarely"),
            (tooMany, "the \(announced) of \(counted(tooMany, "operation")) was announced too often"))
    }
}

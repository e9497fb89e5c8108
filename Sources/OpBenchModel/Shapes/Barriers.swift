extension Shape { public static let barriers = Shape("barriers") }

extension ShapeDefinition {
    /// Operations with barriers: a barrier runs alone, after all operations before it and before all behind it.
    static let barriers = ShapeDefinition(
        shape: .barriers,
        summary: "Operations of which every n-th is a barrier, which separates those before from those after it.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations, the barriers among them."),
            .count("every", 1...operationLimit, 100, "The last of this many successive operations is a barrier."),
        ] + common(work: 100),
        plan: { cell, plan in
            let barriers = Barriers(every: cell.integer("every"))
            plan.form = .closure
            plan.detail = barriers
            plan.classes = barriers.roles(of: plan.operationCount)
        })
}

/// Barriers among operations.
public struct Barriers: ShapeDetail {
    /// The last of this many successive operations is a barrier.
    public let every: Int

    @inlinable
    @inline(__always)
    public func isBarrier(_ operation: Int) -> Bool { operation % every == every - 1 }

    /// The number of barriers before an operation.
    package func count(before operation: Int) -> Int { operation / every }

    /// The classes `operation` and `barrier`; an empty one is left out.
    fileprivate func roles(of operations: Int) -> OperationClasses {
        let roles = [every > 1 ? "operation" : nil, every <= operations ? "barrier" : nil].compactMap(\.self)
        return OperationClasses(
            label: "role", keys: roles, values: roles.map { _ in 0 },
            ofOperation: (0..<operations).map { isBarrier($0) ? UInt8(roles.count - 1) : 0 })
    }
}

extension WorkloadPlan {
    /// Nil in other shapes.
    package var barriers: Barriers? { detail(Barriers.self) }
}

// MARK: - The outcome

/// A slot holds one more than the number of barriers that had ended when the operation ran. `RoundTraces.besideBarrier`
/// is added if that number changed meanwhile.
extension Barriers {
    package func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        var (missing, early, late) = (0, 0, 0)
        for operation in 0..<plan.operationCount {
            let (found, expected) = (Int(traces.slot(operation)), count(before: operation) + 1)
            if found == 0 {
                missing += 1
            } else if found < expected {
                early += 1
            } else if found > expected {
                late += 1
            }
        }
        let beside = traces.hasStamps ? operationsBesideBarriers(traces, of: plan.operationCount) : 0
        let running = counted(beside, "operation was", plural: "operations were")
        return findings(
            (missing, "\(counted(missing, "operation")) did not run"),
            (early, "\(counted(early, "operation")) ran before the barrier in front"),
            (late, "\(counted(late, "operation")) ran twice, beside a barrier, or after a later barrier"),
            (beside, "\(running) running when a barrier began, or began before its end"))
    }

    /// Counts overlaps by the time stamps, which show one of any length.
    private func operationsBesideBarriers(_ traces: RoundTraces, of operationCount: Int) -> Int {
        guard traces.read(.start, 0) > 0 else { return 0 }
        var count = 0
        var barrierEnd: Int64 = 0
        for first in stride(from: 0, to: operationCount, by: every) {
            let barrier = first + every - 1
            let start = barrier < operationCount ? traces.read(.start, barrier) : .max
            for operation in first..<min(barrier, operationCount)
            where traces.read(.end, operation) > start || traces.read(.start, operation) < barrierEnd {
                count += 1
            }
            if barrier < operationCount { barrierEnd = traces.read(.end, barrier) }
        }
        return count
    }
}

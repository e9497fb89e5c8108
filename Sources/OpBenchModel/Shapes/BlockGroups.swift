extension Shape { public static let blockGroups = Shape("block_groups") }

extension ShapeDefinition {
    /// Operations of several blocks.
    static let blockGroups = ShapeDefinition(
        shape: .blockGroups,
        summary:
            "Groups of blocks, one BlockOperation per group; each block is counted and timed as an operation.",
        parameters: [
            .count("groups", 1...1_000_000, 1000, "BlockOperations."),
            .count("blocks", 1...10_000, 8, "Blocks per operation."),
        ] + common(work: 1000),
        operationCount: { $0.integer("groups") * $0.integer("blocks") },
        plan: { cell, plan in
            plan.detail = BlockGroups(groupSize: cell.integer("blocks"))
        })
}

/// Operations of several blocks.
package struct BlockGroups: ShapeDetail {
    /// The number of the plan's operations (blocks) in one submitted operation.
    package let groupSize: Int

    /// The common check, and, for timed completion blocks, whether a group was announced as finished before all its
    /// blocks were.
    package func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        earlyNotices(traces, in: plan) + MarkCheck.violations(of: traces, in: plan)
    }

    private func earlyNotices(_ traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        guard traces.hasStamps else { return [] }
        let early = (0..<plan.operationCount).count { operation in
            let notified = traces.read(.notified, operation)
            return notified > 0 && notified < traces.read(.end, operation)
        }
        return findings((early, "\(counted(early, "block")) ended after the group was announced as finished"))
    }
}

extension WorkloadPlan {
    /// The groups in a range of operations; ranges begin and end between groups.
    package func groups(of part: Range<Int>) -> [Range<Int>] {
        let size = detail?.groupSize ?? 1
        return stride(from: part.lowerBound, to: part.upperBound, by: size).map { $0..<$0 + size }
    }
}

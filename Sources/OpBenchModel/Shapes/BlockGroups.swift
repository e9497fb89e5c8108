extension Shape { public static let blockGroups = Shape("block_groups") }

extension Capability { package static let blockGroups = Capability("block groups") }

extension ShapeDefinition {
    /// Operations that consist of several blocks.
    static let blockGroups = ShapeDefinition(
        .blockGroups, needs: .blockGroups,
        summary:
            "Groups of blocks, each group one BlockOperation; what is counted and timed as an operation is a block.",
        parameters: [
            .count("groups", 1...1_000_000, 1000, "BlockOperations."),
            .count("blocks", 1...10_000, 8, "Blocks in each of them."),
        ] + common(work: 1000),
        operationCount: { $0.integer("groups") * $0.integer("blocks") },
        plan: { cell, plan in
            plan.detail = BlockGroups(groupSize: cell.integer("blocks"))
        })
}

/// Operations of several blocks.
package struct BlockGroups: ShapeDetail {
    /// How many operations of the plan, blocks, make up one that is submitted.
    package let groupSize: Int

    /// The common check, and whether a group was announced as finished only when all its blocks were: for timed completion
    /// blocks.
    package func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        earlyNotices(traces, in: plan) + MarkCheck.violations(of: traces, in: plan)
    }

    private func earlyNotices(_ traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        guard traces.hasStamps else { return [] }
        let early = (0..<plan.operationCount).count { operation in
            let notified = traces.read(.notified, operation)
            return notified > 0 && notified < traces.read(.end, operation)
        }
        return early > 0 ? ["\(early) blocks ended after their group was announced as finished"] : []
    }
}

extension WorkloadPlan {
    /// The groups of a part of the operations; parts begin and end between groups.
    package func groups(of part: Range<Int>) -> [Range<Int>] {
        let size = detail?.groupSize ?? 1
        return stride(from: part.lowerBound, to: part.upperBound, by: size).map { $0..<$0 + size }
    }
}

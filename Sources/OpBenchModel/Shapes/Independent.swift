extension Shape { public static let independent = Shape("independent") }

extension Capability { package static let independent = Capability("independent operations") }

extension ShapeDefinition {
    /// Items of work without dependencies: what one operation costs.
    static let independent = ShapeDefinition(
        .independent, needs: .independent,
        summary: "Items of work without dependencies, cut into operations of a chosen size.",
        parameters: [
            .count("items", 1...1_000_000_000, 100_000, "Items of work, shared out over the operations."),
            .count(
                "items_per_operation", 1...1_000_000_000, 1,
                "Items that one operation does; the last operation does what is left over."),
            .choice(
                "form", ["closure", "block", "subclass"],
                "What is enqueued: a closure, a BlockOperation, or an Operation whose main is overridden."),
            .choice(
                "submission", ["each", "bulk", "refill"],
                "One call per operation; one call for all; or batches of `window`, the next one submitted by the "
                    + "completion of the last operation of the batch before."),
            .count(
                "window", 1...1_000_000, 1000,
                "Operations in a batch; used by submission refill only, where each producer has batches of its own."),
            producers,
        ] + common(work: 100),
        itemCount: { $0.integer("items") },
        operationCount: { cell in
            let (items, size) = (cell.integer("items"), cell.integer("items_per_operation"))
            return items / size + (items % size == 0 ? 0 : 1)
        },
        canBePhase: true,
        plan: { cell, plan in
            plan.itemsPerOperation = min(plan.itemCount, cell.integer("items_per_operation"))
            plan.form = WorkloadPlan.Form(rawValue: cell.text("form")) ?? .closure
            plan.producers = cell.integer("producers")
            switch cell.text("submission") {
            case "bulk": plan.submission = .bulk
            case "refill": plan.submission = .refill(window: cell.integer("window"))
            default: plan.submission = .each
            }
        })
}

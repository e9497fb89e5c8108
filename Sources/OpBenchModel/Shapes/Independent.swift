extension Shape { public static let independent = Shape("independent") }

extension ShapeDefinition {
    /// Items of work without dependencies: the cost of one operation.
    static let independent = ShapeDefinition(
        shape: .independent,
        summary: "Items of work without dependencies, cut into operations of a chosen size.",
        parameters: [
            .count("items", 1...1_000_000_000, 100_000, "Items of work, divided among the operations."),
            .count(
                "items_per_operation", 1...1_000_000_000, 1,
                "Items per operation; the last operation does the rest."),
            form,
            .choice(
                "submission", ["each", "bulk", "refill"],
                "One call per operation; one call for all; or batches of `window`, each submitted by the "
                    + "completion of the previous batch's last operation."),
            .count(
                "window", 1...1_000_000, 1000,
                "Operations in a batch; used only by submission refill, where each producer has its own batches."),
            producers,
        ] + common(work: 100),
        itemCount: { $0.integer("items") },
        operationCount: { cell in
            let (items, size) = (cell.integer("items"), cell.integer("items_per_operation"))
            return items / size + (items % size == 0 ? 0 : 1)
        },
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

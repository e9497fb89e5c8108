extension Shape { public static let manualStart = Shape("manual_start") }

extension ShapeDefinition {
    /// Operations without a queue.
    static let manualStart = ShapeDefinition(
        shape: .manualStart,
        summary: "Operations without a queue: the submitting thread calls start.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations, all together."),
            .choice(
                "form", ["subclass", "block"],
                "The form of an operation: an Operation subclass that overrides main, or a "
                    + "BlockOperation."),
            producers,
        ] + common(work: 0),
        problem: { cell in
            guard cell.maxConcurrent != nil else { return nil }
            return ("it has a limit, but no queue", "leave max_concurrent at \"default\"")
        },
        plan: { cell, plan in
            plan.form = WorkloadPlan.Form(rawValue: cell.text("form")) ?? .subclass
            plan.producers = cell.integer("producers")
        })
}

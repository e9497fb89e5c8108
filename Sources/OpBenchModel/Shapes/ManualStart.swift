extension Shape { public static let manualStart = Shape("manual_start") }

extension Capability { package static let manualStarts = Capability("starts by hand") }

extension ShapeDefinition {
    /// Operations without a queue.
    static let manualStart = ShapeDefinition(
        .manualStart, needs: .manualStarts,
        summary: "Operations that are started by hand, by a call on the submitting thread, without any queue.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations, all together."),
            .choice(
                "form", ["subclass", "block"],
                "What is started: an Operation whose main is overridden, or a "
                    + "BlockOperation."),
            producers,
        ] + common(work: 0),
        problem: { cell in
            guard cell.maxConcurrent != nil else { return nil }
            return ("there is no queue whose limit could be set", "leave max_concurrent at \"default\"")
        },
        plan: { cell, plan in
            plan.form = WorkloadPlan.Form(rawValue: cell.text("form")) ?? .subclass
            plan.producers = cell.integer("producers")
        })
}

extension Shape { public static let priorityMix = Shape("priority_mix") }

extension ShapeDefinition {
    /// Operations of several queue priorities that compete for the slots of one queue.
    static let priorityMix = ShapeDefinition(
        shape: .priorityMix,
        summary: "Operations of five queue priorities competing for the slots of one queue.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations of all priorities together."),
            .init(
                name: "mix", format: .weights(of: PriorityName.allCases.map(\.rawValue)),
                defaultValue: .weights(
                    Dictionary(uniqueKeysWithValues: PriorityName.allCases.map { ($0.rawValue, 1) })),
                summary: "The relative number of operations of each priority."),
            .choice(
                "enqueue", ["suspended", "live"],
                "Whether the queue is suspended until everything is added, or runs while operations are added."),
        ] + common(work: 1000),
        plan: { cell, plan in
            plan.concerns = .priorityOrder
            let given = Dictionary(uniqueKeysWithValues: cell.weights("mix").map { ($0.key, $0.weight) })
            plan.classes = OperationClasses(
                label: "priority",
                levels: PriorityName.allCases.enumerated().map { index, name in
                    (name.rawValue, Double(4 * (index - 2)), given[name.rawValue] ?? 0)
                },
                operations: plan.operationCount, seed: cell.integer("seed"))
            plan.startsSuspended = cell.text("enqueue") == "suspended"
        })
}

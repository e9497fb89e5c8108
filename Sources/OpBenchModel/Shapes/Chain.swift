extension Shape { public static let chain = Shape("chain") }

extension ShapeDefinition {
    /// Chains of operations: the cost of one dependency.
    static let chain = ShapeDefinition(
        shape: .chain,
        summary: "Chains of operations, each waiting for the one before it.",
        parameters: [
            .count("depth", 1...1_000_000, 1000, "Operations in one chain."),
            .count("chains", 1...1_000_000, 1, "Chains, independent of each other."),
            .count(
                "queues", 1...10_000, 1,
                "Queues that share a chain's operations, round robin; above 1, dependencies cross queues."),
            .choice(
                "order", ["forward", "reverse"],
                "The order of adding: each operation after its predecessor, or before it."),
        ] + common(work: 100),
        operationCount: { $0.integer("depth") * $0.integer("chains") },
        estimate: RoundEstimate(hasDependencies: true),
        plan: { cell, plan in
            plan.chains = WorkloadPlan.Chains(
                depth: cell.integer("depth"), count: cell.integer("chains"), queues: cell.integer("queues"))
            plan.isReversed = cell.text("order") == "reverse"
        })
}

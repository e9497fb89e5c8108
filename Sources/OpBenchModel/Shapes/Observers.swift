extension Shape { public static let observers = Shape("observers") }

extension ShapeDefinition {
    /// Operations with observers of their finish.
    static let observers = ShapeDefinition(
        shape: .observers,
        summary: "Operations that notify their observers when they finish.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations, all together."),
            .count("observers", 0...1000, 1, "Observers per operation."),
        ] + common(work: 0),
        plan: { cell, plan in
            plan.detail = Observers(count: cell.integer("observers"))
        })
}

package struct Observers: ShapeDetail {
    /// The number of observers per operation.
    package let count: Int

    package func violations(of traces: RoundTraces, in plan: WorkloadPlan) -> [String] {
        NoticeCheck(noticesPerOperation: count, announced: "finish").violations(of: traces, in: plan)
    }
}

extension WorkloadPlan {
    /// The number of observers per operation; nil in other shapes.
    package var observers: Int? { detail(Observers.self)?.count }
}

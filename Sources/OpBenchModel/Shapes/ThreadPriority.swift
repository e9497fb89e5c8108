extension Shape { public static let threadPriority = Shape("thread_priority") }

extension ShapeDefinition {
    /// Thread priorities against busy threads.
    static let threadPriority = ShapeDefinition(
        shape: .threadPriority,
        summary: "CPU-bound operations of several thread priorities against busy threads at nice 0.",
        parameters: [
            .count("operations", 1...operationLimit, 1000, "Operations of all thread priorities together."),
            .init(
                name: "mix", format: .weightsOfFractions,
                defaultValue: .weights(["0.0": 1, "0.5": 1, "1.0": 1]),
                summary: "The relative number of operations of each thread priority."),
            .count("competitors", 0...256, 2, "Threads that compute at nice 0 while the operations run."),
        ] + common(work: 100_000),
        plan: { cell, plan in
            let levels = cell.weights("mix").map { (key: $0.key, value: Double($0.key) ?? 0.5, weight: $0.weight) }
            plan.classes = OperationClasses(
                label: "thread_priority", levels: levels.sorted { $0.value < $1.value },
                operations: plan.operationCount, seed: cell.integer("seed"))
            let competitors = cell.integer("competitors")
            plan.detail = ThreadPriorities(competitors: competitors)
            // Without competitors, a low priority costs no CPU time.
            plan.concerns = competitors > 0 ? .threadPriorities : []
        })
}

/// Thread priorities and the threads that compete with them.
package struct ThreadPriorities: ShapeDetail {
    /// The number of busy threads at nice 0 beside the backend.
    package let competitors: Int
}

extension WorkloadPlan {
    /// Nil in other shapes.
    package var threadPriorities: ThreadPriorities? { detail(ThreadPriorities.self) }
}

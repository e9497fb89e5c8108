extension ShapeDefinition {
    /// Queue priorities that compete for the slots of one queue.
    static let priorityMix = ShapeDefinition(
        shape: .priorityMix,
        summary: "Operations of five queue priorities competing for the slots of one queue.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations of all priorities together."),
            .init(
                name: "mix", kind: .weights(keys: .fixed(PriorityLevel.allCases.map(\.rawValue))),
                defaultValue: .weights(
                    Dictionary(uniqueKeysWithValues: PriorityLevel.allCases.map { ($0.rawValue, 1) })),
                summary: "Relative numbers of operations of each priority."),
            .choice(
                "enqueue", ["suspended", "live"],
                "Whether the queue is suspended until everything is added, or runs while operations are added."),
        ] + common(work: 1000))
}

extension ShapeDefinition {
    /// Operations whose finish others are told of.
    static let observers = ShapeDefinition(
        shape: .observers,
        summary: "Operations that tell their observers when they have finished.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations, all together."),
            .count("observers", 0...1000, 1, "Observers of each operation."),
        ] + common(work: 0))
}

extension ShapeDefinition {
    /// Operations whose finish is observed.
    static let observers = ShapeDefinition(
        shape: .observers,
        summary: "Operations that notify their observers when they finish.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations, all together."),
            .count("observers", 0...1000, 1, "Observers of each operation."),
        ] + common(work: 0))
}

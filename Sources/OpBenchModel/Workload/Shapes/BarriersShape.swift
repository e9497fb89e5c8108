extension ShapeDefinition {
    /// Operations that run alone, after all before them and before all behind them.
    static let barriers = ShapeDefinition(
        shape: .barriers,
        summary: "Operations of which every n-th is a barrier between those before and those after it.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations, the barriers among them."),
            .count("every", 1...operationLimit, 100, "The last of this many successive operations is a barrier."),
        ] + common(work: 100))
}

extension ShapeDefinition {
    /// Operations that consist of several blocks.
    static let blockGroups = ShapeDefinition(
        shape: .blockGroups,
        summary:
            "Groups of blocks, each group one BlockOperation; what is counted and timed as an operation is a block.",
        parameters: [
            .count("groups", 1...1_000_000, 1000, "BlockOperations."),
            .count("blocks", 1...10_000, 8, "Blocks in each of them."),
        ] + common(work: 1000),
        operationCount: { $0.integer("groups") * $0.integer("blocks") })
}

extension ShapeDefinition {
    /// Operations that say themselves when they have finished.
    static let asynchronous = ShapeDefinition(
        shape: .asynchronous,
        summary: "Operations that continue after their start returns, and announce their own end.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations, all together."),
            .choice(
                "ended_by", ["thread", "itself"],
                "Who announces the end: a thread of its own, to which each operation is handed by its start; or the "
                    + "start itself."),
        ] + common(work: 0))
}

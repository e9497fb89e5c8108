extension ShapeDefinition {
    /// Operations that are cancelled in great numbers.
    static let cancelStorm = ShapeDefinition(
        shape: .cancelStorm,
        summary: "Many submitted operations are cancelled at once.",
        parameters: [
            .count("operations", 1...operationLimit, 10_000, "Operations submitted, all together."),
            .init(
                name: "cancelled_percent", kind: .integer(0...100), defaultValue: .integer(50),
                summary: "How many of them are chosen, by the seed, to be cancelled; used by call each only.",
                unit: "count"),
            .choice(
                "call", ["each", "all"],
                "One call per operation to be cancelled, or one call for everything in the queue."),
            .choice(
                "enqueue", ["suspended", "live"],
                "Whether the queue is suspended until everything is added and cancelled, or runs meanwhile."),
            .count(
                "producers", 1...256, 1,
                "Threads that submit, each an equal share; when all have, each cancels what it submitted."),
        ] + common(work: 1000))
}

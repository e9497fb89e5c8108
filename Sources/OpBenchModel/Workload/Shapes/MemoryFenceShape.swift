extension ShapeDefinition {
    /// A great number of operations that wait at once.
    static let memoryFence = ShapeDefinition(
        shape: .memoryFence,
        summary: "A great number of operations held back in a suspended queue, then let go.",
        parameters: [
            .count("operations", 1...operationLimit, 1_000_000, "Operations that wait at once."),
            .choice(
                "form", ["closure", "block", "subclass"],
                "What is enqueued: a closure, a BlockOperation, or an Operation whose main is overridden."),
            .init(
                name: "payload_bytes", kind: .integer(0...1_048_576), defaultValue: .integer(0),
                summary: "Size of the object of its own that each operation keeps, its header included; 0 for none.",
                unit: "B"),
        ] + common(work: 0))
}

extension ShapeDefinition {
    /// Thread priorities against busy threads.
    static let threadPriority = ShapeDefinition(
        shape: .threadPriority,
        summary: "CPU-bound operations of several thread priorities against busy threads at nice 0.",
        parameters: [
            .count("operations", 1...operationLimit, 1000, "Operations of all thread priorities together."),
            .init(
                name: "mix", kind: .weights(keys: .number(0...1)),
                defaultValue: .weights(["0.0": 1, "0.5": 1, "1.0": 1]),
                summary: "Relative numbers of operations of each thread priority."),
            .count("competitors", 0...256, 2, "Threads that compute at nice 0 while the operations run."),
        ] + common(work: 100_000))
}

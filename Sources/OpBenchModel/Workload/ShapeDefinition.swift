/// What a shape is and which parameters it takes. The decoder, the published schema, the cell ids and `--help` all
/// come from these values.
public struct ShapeDefinition: Sendable {
    public let shape: Shape
    /// One line for people.
    public let summary: String
    /// In the order in which lists multiply: the first varies slowest.
    public let parameters: [ParameterDefinition]

    /// The definition of a shape.
    public static func of(_ shape: Shape) -> ShapeDefinition {
        switch shape {
        case .independent: independent
        case .chain: chain
        case .priorityMix: priorityMix
        case .threadPriority: threadPriority
        case .suspendResume: suspendResume
        }
    }

    /// The parameter of that name, or nil if the shape has none.
    public func parameter(named name: String) -> ParameterDefinition? {
        parameters.first { $0.name == name }
    }
}

// MARK: - The shapes

extension ShapeDefinition {
    private static let independent = ShapeDefinition(
        shape: .independent,
        summary: "Items of work without dependencies, cut into operations of a chosen size.",
        parameters: [
            .count("items", 1...1_000_000_000, 100_000, "Items of work, shared out over the operations."),
            .count(
                "items_per_operation", 1...1_000_000_000, 1,
                "Items that one operation does; the last operation does what is left over."),
            .choice(
                "form", ["closure", "block", "subclass"],
                "What is enqueued: a closure, a BlockOperation, or an Operation whose main is overridden."),
            .choice(
                "submission", ["each", "bulk", "refill"],
                "One call an operation; one call for all; or batches of `window`, the next one submitted by the "
                    + "completion of the last operation of the batch before."),
            .count(
                "window", 1...1_000_000, 1000,
                "Operations in a batch; used by submission refill only, where each producer has batches of its own."),
            producers,
        ] + common(work: 100))

    private static let chain = ShapeDefinition(
        shape: .chain,
        summary: "Chains of operations, each waiting for the one before it.",
        parameters: [
            .count("depth", 1...1_000_000, 1000, "Operations in one chain."),
            .count("chains", 1...1_000_000, 1, "Chains, independent of each other."),
            .count(
                "queues", 1...1024, 1,
                "Queues that the operations of a chain are dealt to in turn; above 1, dependencies cross queues."),
            .choice(
                "order", ["forward", "reverse"],
                "The order of adding: each operation after the one it waits for, or before it."),
        ] + common(work: 100))

    private static let priorityMix = ShapeDefinition(
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

    private static let threadPriority = ShapeDefinition(
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

    private static let suspendResume = ShapeDefinition(
        shape: .suspendResume,
        summary: "A thread suspends and resumes the queue while operations are submitted and run.",
        parameters: [
            .count("operations", 1...operationLimit, 100_000, "Operations submitted, all together."),
            .count("toggles", 1...100_000, 20, "Suspensions, each followed by a resumption."),
            .nanoseconds("run_ns", 1000...10_000_000_000, 2_000_000, "Time from a resumption to the next suspension."),
            .nanoseconds("hold_ns", 1000...10_000_000_000, 2_000_000, "Time from a suspension to its resumption."),
            producers,
        ] + common(work: 1000))

    /// The greatest number of operations in one cell: at some hundred bytes each, what 8 GB of memory hold.
    public static let operationLimit = 20_000_000
    /// The greatest `max_concurrent`: the engine's bound on threads.
    static let concurrencyLimit = 512
    /// The greatest whole number that JSON readers agree on, 2^53 − 1.
    static let exactIntegerLimit = 9_007_199_254_740_991

    private static let producers = ParameterDefinition.count(
        "producers", 1...256, 1, "Threads that submit, each an equal share of the operations.")

    private static func common(work: Int) -> [ParameterDefinition] {
        [
            .nanoseconds(
                "work_ns", 0...1_000_000_000, work, "Calibrated CPU work of one item, or of one operation; 0 for none."),
            .init(
                name: "max_concurrent", kind: .integerOr(keyword: "default", 1...concurrencyLimit),
                defaultValue: .text("default"),
                summary: "The queue's limit on operations running at once, or the system's choice.", unit: "count"),
            .init(
                name: "seed", kind: .integer(0...exactIntegerLimit), defaultValue: .integer(1),
                summary: "Shapes the plan: which operation has which priority. No part of a cell_id; takes one value.",
                takesList: false),
        ]
    }
}

/// The five queue priorities by their names in workload files, lowest first.
public enum PriorityLevel: String, CaseIterable, Sendable {
    case veryLow = "very_low"
    case low, normal, high
    case veryHigh = "very_high"
}

extension ParameterDefinition {
    fileprivate static func count(_ name: String, _ range: ClosedRange<Int>, _ value: Int, _ summary: String) -> Self {
        .init(name: name, kind: .integer(range), defaultValue: .integer(value), summary: summary, unit: "count")
    }

    fileprivate static func nanoseconds(
        _ name: String, _ range: ClosedRange<Int>, _ value: Int, _ summary: String
    ) -> Self {
        .init(name: name, kind: .integer(range), defaultValue: .integer(value), summary: summary, unit: "ns")
    }

    /// The first choice is the default.
    fileprivate static func choice(_ name: String, _ choices: [String], _ summary: String) -> Self {
        .init(name: name, kind: .choice(choices), defaultValue: .text(choices[0]), summary: summary)
    }
}

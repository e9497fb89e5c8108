/// What a shape is and which parameters it takes. The decoder, the published schema, the cell ids and `--help` all
/// come from these values.
public struct ShapeDefinition: Sendable {
    public let shape: Shape
    /// One line for people.
    public let summary: String
    /// In the order in which lists multiply: the first varies slowest.
    public let parameters: [ParameterDefinition]
    /// How many items of work one round of a cell does; nil: as many as operations.
    let itemCount: (@Sendable (Cell) -> Int)?
    /// How many operations one round of a cell submits.
    let operationCount: @Sendable (Cell) -> Int
    /// The kinds of sample that say something about the shape. A file cannot ask for others.
    public let kinds: Set<SampleKind>
    /// Why the values of a cell do not go together, and what would; nil if they do.
    let problem: @Sendable (Cell) -> (what: String, remedy: String)?

    init(
        shape: Shape, summary: String, parameters: [ParameterDefinition], itemCount: (@Sendable (Cell) -> Int)? = nil,
        operationCount: @escaping @Sendable (Cell) -> Int = { $0.integer("operations") },
        kinds: Set<SampleKind> = Set(SampleKind.allCases),
        problem: @escaping @Sendable (Cell) -> (what: String, remedy: String)? = { _ in nil }
    ) {
        self.shape = shape
        self.summary = summary
        self.parameters = parameters
        self.itemCount = itemCount
        self.operationCount = operationCount
        self.kinds = kinds
        self.problem = problem
    }

    /// The definition of a shape.
    public static func of(_ shape: Shape) -> ShapeDefinition {
        switch shape {
        case .independent: independent
        case .chain: chain
        case .graph: graph
        case .priorityMix: priorityMix
        case .threadPriority: threadPriority
        case .suspendResume: suspendResume
        case .wakeup: wakeup
        case .openLoop: openLoop
        case .cancelStorm: cancelStorm
        case .blocking: blocking
        case .memoryFence: memoryFence
        case .observers: observers
        case .barriers: barriers
        case .blockGroups: blockGroups
        case .asynchronous: asynchronous
        case .manualStart: manualStart
        case .sequence: sequence
        }
    }

    /// The kinds of sample by name, in the order of tables.
    var kindNames: [String] { SampleKind.allCases.filter(kinds.contains).map(\.rawValue) }

    /// The parameter of that name, or nil if the shape has none.
    public func parameter(named name: String) -> ParameterDefinition? {
        parameters.first { $0.name == name }
    }
}

// MARK: - What several shapes have

extension ShapeDefinition {
    /// The greatest number of operations in one cell: at some hundred bytes each, what 8 GB of memory hold.
    public static let operationLimit = 20_000_000
    /// The longest that one round may pause or last by its parameters alone, in seconds.
    static let secondsLimit = 600.0
    /// The greatest `max_concurrent`: the engine's bound on threads.
    static let concurrencyLimit = 512
    /// The greatest whole number that JSON readers agree on, 2^53 − 1.
    static let exactIntegerLimit = 9_007_199_254_740_991

    static let producers = ParameterDefinition.count(
        "producers", 1...256, 1, "Threads that submit, each an equal share of the operations.")

    static func common(work: Int) -> [ParameterDefinition] {
        [
            .nanoseconds(
                "work_ns", 0...1_000_000_000, work, "Calibrated CPU work of one item, or of one operation; 0 for none."),
            .init(
                name: "max_concurrent", kind: .integerOr(keyword: "default", 1...concurrencyLimit),
                defaultValue: .text("default"),
                summary: "The queue's limit on operations running at once, or the system's choice.", unit: "count"),
            .init(
                name: "seed", kind: .integer(0...exactIntegerLimit), defaultValue: .integer(1),
                summary:
                    "Shapes the plan: which operation has which priority, when each arrives. No part of a cell_id; takes one value.",
                takesList: false),
        ]
    }
}

extension ParameterDefinition {
    static func count(_ name: String, _ range: ClosedRange<Int>, _ value: Int, _ summary: String) -> Self {
        .init(name: name, kind: .integer(range), defaultValue: .integer(value), summary: summary, unit: "count")
    }

    static func nanoseconds(
        _ name: String, _ range: ClosedRange<Int>, _ value: Int, _ summary: String
    ) -> Self {
        .init(name: name, kind: .integer(range), defaultValue: .integer(value), summary: summary, unit: "ns")
    }

    /// The first choice is the default.
    static func choice(_ name: String, _ choices: [String], _ summary: String) -> Self {
        .init(name: name, kind: .choice(choices), defaultValue: .text(choices[0]), summary: summary)
    }
}

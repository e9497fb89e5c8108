/// A backend: its summary, the shapes it is defined for and a guess of its cost per operation.
public struct BackendDefinition: Sendable {
    public let id: BackendID
    /// One line for people.
    public let summary: String
    /// The shapes that it has ways for; nil: every shape.
    let ways: Set<Shape>?
    let cost: OperationCost
    /// The Swift module of a declared backend's queue: profiles count its functions as the queue's. Nil for built-in
    /// backends.
    package private(set) var module: String?

    /// The backends of this package, in the order of tables.
    package static let builtIn: [BackendDefinition] = [
        .init("engine", "OperationEngine, the queue under test.", cost: OperationCost(nanoseconds: 300)),
        .init(
            "engine:graph", "As engine, with all dependencies added in one step.", [.chain, .graph],
            cost: OperationCost(nanoseconds: 300)),
        .init(
            "engine:within",
            "Closures on the engine's queues, whose bodies submit the successors that become ready.",
            [.chain, .graph]),
        .init(
            "engine:counted", "Refilled closures on the engine; the last one of a batch submits the next batch.",
            [.independent]),
        .init(
            "foundation", "Foundation's Operation and OperationQueue.",
            // It scans all waiting operations whenever one ends.
            cost: OperationCost(nanoseconds: 4000, dependent: (nanoseconds: 3000, nanosecondsPerOperation: 80))),
        .init(
            "serial", "A plain loop on one thread: the lower bound, and the reference for outcomes.",
            cost: OperationCost(nanoseconds: 2, isLoop: true)),
        .init("serial:futex", "One thread that a futex wakes: the lower bound of every wake-up.", [.wakeup]),
        .init("dispatch", "Raw Dispatch in the fastest form shipped for the shape: the baseline of ratios."),
        .init(
            "dispatch:notify", "As dispatch, with dependencies and refilled batches declared by DispatchGroup.notify.",
            [.independent, .chain, .graph]),
        .init(
            "dispatch:function", "As dispatch, with C functions in place of closures.",
            [.independent, .chain, .graph]),
        .init("concurrency", "Swift tasks in the fastest form shipped for the shape."),
        .init("concurrency:group", "A task group of all operations; a limit is a window of children.", [.independent]),
        .init(
            "tbb", "oneTBB's task group, in programs built with OPBENCH_PEERS=1; a body runs what it makes ready.",
            [.independent, .chain, .graph]),
        .init(
            "tbb:flow", "oneTBB's flow graph, in the same programs: a node for each operation.", [.chain, .graph]),
    ]

    /// All backends and forms, in the order of tables: the built-in ones, and those that the program declares.
    public static var all: [BackendDefinition] { builtIn + DeclaredBackends.definitions }

    /// The command that prints all backends.
    package static let listing = "opbench describe"

    /// A possible cause of an unknown name.
    static let declaredElsewhere = "a backend that a program declares is known to that program alone"

    /// The definition of that name, or nil if there is none.
    public static func of(_ id: BackendID) -> BackendDefinition? { all.first { $0.id == id } }

    /// A backend that a program declares. It is defined for every shape; its factory decides whether it can execute a
    /// plan.
    package init(declared id: BackendID, summary: String, module: String) {
        self.init(id.rawValue, summary)
        self.module = module
    }

    private init(
        _ name: String, _ summary: String, _ ways: Set<Shape>? = nil, cost: OperationCost = OperationCost()
    ) {
        self.id = BackendID(rawValue: name)
        self.summary = summary
        self.ways = ways
        self.cost = cost
    }
}

/// The cost of an operation on a backend, without its work: a guess, for the estimate of a run's duration.
struct OperationCost: Sendable {
    var nanoseconds = 600.0
    /// The cost if operations wait for others: a constant, and an amount per operation of the round. Nil: the same.
    var dependent: (nanoseconds: Double, nanosecondsPerOperation: Double)?
    /// Whether it is a plain loop on one thread, which needs no wake-up.
    var isLoop = false
}

/// A backend by its name in files and rows: `engine`, `dispatch`, `dispatch:notify`, …
public struct BackendID: RawRepresentable, Hashable, Sendable, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let engine = BackendID(rawValue: "engine")
    public static let dispatch = BackendID(rawValue: "dispatch")
    public static let foundation = BackendID(rawValue: "foundation")
    public static let concurrency = BackendID(rawValue: "concurrency")
    public static let serial = BackendID(rawValue: "serial")

    /// The references of ratios: where the queue knows the order of operations, the second one.
    public static let baselines = [dispatch, BackendID(rawValue: "dispatch:notify")]

    /// All backends and forms, in the order of tables.
    public static var known: [BackendID] { BackendDefinition.all.map(\.id) }

    /// Whether programs are about this backend: the engine, and all that are not built in. The others are for
    /// comparison.
    public var isOwn: Bool { self == .engine || !BackendDefinition.builtIn.contains { $0.id == self } }
}

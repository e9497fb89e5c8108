/// What a backend does, what it is defined for and what an operation costs on it, about.
public struct BackendDefinition: Sendable {
    public let id: BackendID
    /// One line for people.
    public let summary: String
    /// What it is defined for; nil: every shape.
    let capabilities: Set<Capability>?
    let cost: OperationCost
    /// The Swift module of a declared backend's queue, whose functions profiles count as the queue's; nil for built-in ones.
    package private(set) var module: String?

    /// Those of this package, in the order of tables.
    package static let builtIn: [BackendDefinition] = [
        .init("engine", "OperationEngine, the queue under test.", cost: OperationCost(nanoseconds: 300)),
        .init(
            "engine:within",
            "Closures on the engine's queues, whose bodies submit the successors that they made ready.",
            [.chains, .graphs]),
        .init(
            "engine:counted", "Refilled closures on the engine, of which a batch's last submits the next.",
            [.independent]),
        .init("engine:barrier", "Refilled closures on the engine, with one barrier per batch.", [.independent]),
        .init(
            "foundation", "Foundation's Operation and OperationQueue.",
            // It looks through all waiting operations whenever one ends.
            cost: OperationCost(nanoseconds: 4000, dependent: (nanoseconds: 3000, nanosecondsPerOperation: 80))),
        .init(
            "serial", "A plain loop on one thread: the floor, and the oracle of the outcome.",
            cost: OperationCost(nanoseconds: 2, isLoop: true)),
        .init("serial:futex", "One thread that a futex wakes: the floor under every wake-up.", [.wakeups]),
        .init("dispatch", "Raw Dispatch in the fastest form shipped for the shape: the baseline of ratios."),
        .init(
            "dispatch:notify", "Groups stand for dependencies, and for refilled batches; their notify submits.",
            [.independent, .chains, .graphs]),
        .init(
            "dispatch:inline", "As dispatch, but a body runs the first successor it made ready itself.",
            [.graphs]),
        .init(
            "dispatch:item", "Cancellation by the work item's own call instead of a flag that closures check.",
            [.cancellation]),
        .init(
            "dispatch:function", "As dispatch, with C functions in place of closures.",
            [.independent, .chains, .graphs]),
        .init("dispatch:apply", "Independent operations as the iterations of concurrentPerform.", [.independent]),
        .init("dispatch:serial", "A chain as one serial queue, so that order replaces dependency.", [.chains]),
        .init("concurrency", "Swift tasks in the fastest form shipped for the shape."),
        .init("concurrency:await", "Swift tasks of which each awaits its predecessors.", [.chains, .graphs]),
        .init("concurrency:group", "A task group of all operations; a limit is a window of children.", [.independent]),
    ]

    /// Every backend and every form, in the order of tables: the built-in ones, and those that the program declares.
    public static var all: [BackendDefinition] { builtIn + DeclaredBackends.definitions }

    /// What an unknown name may be all the same.
    static let declaredElsewhere = "a backend that a program declares is known to that program alone"

    /// The definition of that name, or nil if there is none.
    public static func of(_ id: BackendID) -> BackendDefinition? { all.first { $0.id == id } }

    /// A backend that a program declares. It is defined for every shape; whether it can execute a plan, its factory says.
    package init(declared id: BackendID, summary: String, module: String) {
        self.init(id.rawValue, summary)
        self.module = module
    }

    private init(
        _ name: String, _ summary: String, _ capabilities: Set<Capability>? = nil, cost: OperationCost = OperationCost()
    ) {
        self.id = BackendID(rawValue: name)
        self.summary = summary
        self.capabilities = capabilities
        self.cost = cost
    }
}

/// What an operation costs on a backend beside its work: a guess, for the time that a run takes.
struct OperationCost: Sendable {
    var nanoseconds = 600.0
    /// Where operations wait for others: a constant, and what each operation of the round adds. Nil: the same.
    var dependent: (nanoseconds: Double, nanosecondsPerOperation: Double)?
    /// Whether it is a plain loop on one thread, which nothing has to wake.
    var isLoop = false
}

extension BackendID {
    /// All backends and forms, in the order of tables.
    public static var known: [BackendID] { BackendDefinition.all.map(\.id) }
}

extension BackendID {
    /// Whether programs are about it: the engine, and all that are not built in. The others are there to be compared with.
    public var isOwn: Bool { self == .engine || !BackendDefinition.builtIn.contains { $0.id == self } }
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
}

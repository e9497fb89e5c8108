/// What a backend does and for which shapes it is defined. A shape outside the set is refused in a workload file.
public struct BackendDefinition: Sendable {
    public let id: BackendID
    /// One line for people.
    public let summary: String
    public let shapes: Set<Shape>

    /// Every backend and every form, in the order of tables.
    public static let all: [BackendDefinition] = [
        .init("engine", "OperationEngine, the queue under test.", Set(Shape.allCases)),
        .init("foundation", "Foundation's Operation and OperationQueue.", Set(Shape.allCases)),
        .init("serial", "A plain loop on one thread: the floor, and the oracle of the outcome.", Set(Shape.allCases)),
        .init("serial:futex", "One thread that a futex wakes: the floor under every wake-up.", [.wakeup]),
        .init(
            "dispatch", "Raw Dispatch in the fastest form shipped for the shape: the baseline of every ratio.",
            Set(Shape.allCases)),
        .init(
            "dispatch:within", "A chain or graph in which each body submits the successors that it made ready.",
            [.chain, .graph]),
        .init(
            "dispatch:notify", "A chain or graph in which groups stand for dependencies, and notify submits.",
            [.chain, .graph]),
        .init(
            "dispatch:inline", "As dispatch:within, but a body runs the first successor it made ready itself.", [.graph]
        ),
        .init(
            "dispatch:item", "Cancellation by the work item's own call instead of a flag that closures check.",
            [.cancelStorm]),
        .init("dispatch:serial", "A chain as one serial queue, so that order replaces dependency.", [.chain]),
        .init(
            "concurrency", "Swift tasks in the fastest form shipped for the shape.", Set(Shape.allCases)),
        .init("concurrency:await", "Swift tasks of which each awaits its predecessors.", [.chain, .graph]),
        .init("concurrency:group", "A task group of all operations; a limit is a window of children.", [.independent]),
    ]

    /// The definition of that name, or nil if there is none.
    public static func of(_ id: BackendID) -> BackendDefinition? { all.first { $0.id == id } }

    private init(_ name: String, _ summary: String, _ shapes: Set<Shape>) {
        self.id = BackendID(rawValue: name)
        self.summary = summary
        self.shapes = shapes
    }
}

extension BackendID {
    /// All backends and forms, in the order of tables.
    public static var known: [BackendID] { BackendDefinition.all.map(\.id) }

    /// Those defined for a shape, in the order of tables.
    static func known(for shape: Shape) -> [BackendID] {
        BackendDefinition.all.filter { $0.shapes.contains(shape) }.map(\.id)
    }
}

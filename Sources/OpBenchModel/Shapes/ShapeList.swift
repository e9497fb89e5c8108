// The list of shapes: workload files, the schema, the help and the plan know exactly these.

extension ShapeDefinition {
    /// Every shape, in the order of tables.
    public static let all: [ShapeDefinition] = [
        independent, chain, graph, priorityMix, threadPriority, suspendResume, wakeup, openLoop, replay, cancelStorm,
        blocking,
        memoryFence, observers, barriers, blockGroups, asynchronous, manualStart,
    ]

    private static let byShape = Dictionary(uniqueKeysWithValues: all.map { ($0.shape, $0) })

    /// The definition of a shape. Traps if the shape is not listed.
    public static func of(_ shape: Shape) -> ShapeDefinition {
        guard let definition = byShape[shape] else { preconditionFailure("\(shape.rawValue) is not listed") }
        return definition
    }
}

extension Shape: CaseIterable, RawRepresentable {
    /// In the order of tables.
    public static let allCases = ShapeDefinition.all.map(\.shape)

    public init?(rawValue: String) {
        self.init(rawValue)
        guard Self.allCases.contains(self) else { return nil }
    }
}

extension BackendDefinition {
    /// The shapes that the backend is defined for. A workload file that combines it with another shape is refused.
    public var shapes: Set<Shape> { Set(Shape.allCases.filter(takes)) }

    /// Whether the backend is defined for a shape.
    package func takes(_ shape: Shape) -> Bool { ways?.contains(ShapeDefinition.of(shape).way) ?? true }
}

extension BackendID {
    /// The backends that are defined for a shape, in the order of tables.
    package static func known(for shape: Shape) -> [BackendID] {
        BackendDefinition.all.filter { $0.takes(shape) }.map(\.id)
    }
}

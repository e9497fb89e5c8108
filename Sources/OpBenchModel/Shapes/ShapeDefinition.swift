/// A shape: which parameters it takes, what a round of it is, what it asks of a backend and how long it takes. The decoder,
/// the published schema, the cell ids, `--help`, the plan and the estimates all come from these values.
public struct ShapeDefinition: Sendable {
    public let shape: Shape
    /// What a backend must be able to do.
    package let needs: Capability
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
    /// Whether a sequence may have phases of the shape.
    let canBePhase: Bool
    /// Why the values of a cell do not go together, and what would; nil if they do.
    let problem: @Sendable (Cell) -> (what: String, remedy: String)?
    /// How long a round takes, about.
    package let estimate: RoundEstimate
    /// The cell with the least to work out for each operation that leaves unchanged what a backend can say of it.
    let sketch: @Sendable (Cell) -> Cell
    /// Completes the plan of a cell, which has what every plan has.
    private let complete: @Sendable (Cell, inout WorkloadPlan) -> Void

    init(
        _ shape: Shape, needs: Capability, summary: String, parameters: [ParameterDefinition],
        itemCount: (@Sendable (Cell) -> Int)? = nil,
        operationCount: @escaping @Sendable (Cell) -> Int = { $0.integer("operations") },
        kinds: Set<SampleKind> = Set(SampleKind.allCases), canBePhase: Bool = false,
        problem: @escaping @Sendable (Cell) -> (what: String, remedy: String)? = { _ in nil },
        estimate: RoundEstimate = RoundEstimate(),
        sketch: @escaping @Sendable (Cell) -> Cell = { $0.reduced(["operations"]) },
        plan complete: @escaping @Sendable (Cell, inout WorkloadPlan) -> Void
    ) {
        self.shape = shape
        self.needs = needs
        self.summary = summary
        self.parameters = parameters
        self.itemCount = itemCount
        self.operationCount = operationCount
        self.kinds = kinds
        self.canBePhase = canBePhase
        self.problem = problem
        self.estimate = estimate
        self.sketch = sketch
        self.complete = complete
    }

    /// The kinds of sample by name, in the order of tables.
    package var kindNames: [String] { SampleKind.allCases.filter(kinds.contains).map(\.rawValue) }

    /// The cell with every parameter at its default.
    package func standardCell(of workload: String) -> Cell { Cell(workload: workload, definition: self, values: [:]) }

    /// The parameter of that name, or nil if the shape has none.
    public func parameter(named name: String) -> ParameterDefinition? {
        parameters.first { $0.name == name }
    }

    /// What an object says of the parameters, by name.
    ///
    /// - Parameter read: reads what stands under one of them.
    func values<Value>(
        in node: JSONNode, read: (ParameterDefinition, JSONNode) throws(InputErrors) -> Value
    ) throws(InputErrors) -> [String: Value] {
        let mistakes = Mistakes()
        let members = try node.object("an object of parameters", known: parameters.map(\.name), mistakes)
        var values: [String: Value] = [:]
        for parameter in parameters {
            values[parameter.name] = mistakes.keep(members[parameter.name]) { node throws(InputErrors) in
                try read(parameter, node)
            }
        }
        try mistakes.check()
        return values
    }

    /// The plan of a cell of this shape. The same cell gives the same plan.
    package func plan(of cell: Cell) -> WorkloadPlan {
        let operations = operationCount(cell)
        var plan = WorkloadPlan(
            shape: shape, needs: needs, operationCount: operations, itemCount: itemCount?(cell) ?? operations,
            workNanoseconds: cell.integer("work_ns"), limit: cell.maxConcurrent)
        complete(cell, &plan)
        return plan
    }
}

extension Cell {
    /// The cell with 1 for the parameters of those names that it has.
    func reduced(_ names: [String]) -> Cell {
        var parameters = parameters
        for name in names where parameters[name] != nil { parameters[name] = .integer(1) }
        return Cell(workload: workload, shape: shape, parameters: parameters, id: id)
    }
}

/// What a workload does, by its name in workload files and rows. Each shape has its own parameters (`ShapeDefinition`).
///
/// A shape's file declares its name, and the list of shapes (`ShapeDefinition.all`) says which there are.
public struct Shape: Sendable, Hashable, Codable {
    public let rawValue: String

    /// - Parameter name: in small letters, digits and underscores.
    package init(_ name: String) { rawValue = name }
}

/// A guess of the time that a round of a shape takes, by its parameters and the backend.
package struct RoundEstimate: Sendable {
    /// What one operation costs beside its work, in nanoseconds, on every backend with a queue; nil: what the backend says.
    var operationNanoseconds: Double?
    /// Whether operations wait for others, which costs some backends more.
    var hasDependencies = false
    /// What the parameters alone make a round wait, in seconds.
    var pause: @Sendable (Cell) -> Double = { _ in 0 }
    /// The time of a round in seconds, where the other values do not make it up.
    var whole: (@Sendable (Cell, BackendID) -> Double)?
    /// The rounds of a latency sample, where they decide how long it takes; nil: it takes its target.
    var latencyRounds: @Sendable (Cell) -> Double? = { _ in nil }

    /// In seconds.
    ///
    /// - Parameter operationCount: how many operations a round of the cell has, and how many items of work.
    func seconds(of cell: Cell, operations: Int, items: Int, on backend: BackendID) -> Double {
        if let whole { return whole(cell, backend) }
        let cost = BackendDefinition.of(backend)?.cost ?? OperationCost()
        let threads = cost.isLoop || cell.maxConcurrent == 1 ? 1.0 : 2
        let work = Double(items) * Double(cell.integer("work_ns")) / threads
        let each = nanosecondsPerOperation(cost, of: operations)
        return (Double(operations) * each + work) / 1e9 + pause(cell)
    }

    private func nanosecondsPerOperation(_ cost: OperationCost, of operations: Int) -> Double {
        if cost.isLoop { return cost.nanoseconds }
        if let operationNanoseconds { return operationNanoseconds }
        guard hasDependencies, let dependent = cost.dependent else { return cost.nanoseconds }
        return dependent.nanoseconds + dependent.nanosecondsPerOperation * Double(operations)
    }
}

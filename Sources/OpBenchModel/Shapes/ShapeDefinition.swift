/// A shape: its parameters, the plan of a round, what it requires of a backend and how long it takes. The decoder, the
/// published schema, the cell ids, `--help`, the plan and the estimates are all derived from these values.
public struct ShapeDefinition: Sendable {
    public let shape: Shape
    /// The capability that a backend needs.
    package let needs: Capability
    /// One line for people.
    public let summary: String
    /// In the order in which lists multiply: the first varies slowest.
    public let parameters: [ParameterDefinition]
    /// The number of items of work in one round of a cell; nil: one per operation.
    let itemCount: (@Sendable (Cell) -> Int)?
    /// The number of operations that one round of a cell submits.
    let operationCount: @Sendable (Cell) -> Int
    /// The kinds of sample that are useful for the shape. A file cannot select others.
    public let kinds: Set<SampleKind>
    /// Whether the shape can be a phase of a sequence.
    let canBePhase: Bool
    /// Why a cell's values cannot be combined, and the remedy; nil if they can.
    let problem: @Sendable (Cell) -> (what: String, remedy: String)?
    /// An estimate of a round's duration.
    package let estimate: RoundEstimate
    /// A cell that needs the least planning per operation and that a backend supports exactly if it supports the given
    /// cell.
    let sketch: @Sendable (Cell) -> Cell
    /// Completes the plan of a cell, which has the parts common to all plans.
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

    /// The kinds that a workload has if it names none.
    public var usualKinds: Set<SampleKind> { kinds.filter { !$0.isOnRequest } }

    /// The kinds of sample by name, in the order of tables.
    package var kindNames: [String] { Self.names(of: kinds) }

    static func names(of kinds: Set<SampleKind>) -> [String] {
        SampleKind.allCases.filter(kinds.contains).map(\.rawValue)
    }

    /// The command that prints the parameters.
    var listing: String { "opbench shapes \(shape.rawValue)" }

    /// The cell with every parameter at its default, except the given ones.
    package func standardCell(of workload: String, with values: [String: ParameterValue] = [:]) -> Cell {
        Cell(workload: workload, definition: self, values: values)
    }

    /// The parameter of that name, or nil if the shape has none.
    public func parameter(named name: String) -> ParameterDefinition? {
        parameters.first { $0.name == name }
    }

    /// Decodes an object of parameters, by name.
    ///
    /// - Parameter read: decodes the value of one parameter.
    func values<Value>(
        in node: JSONNode, read: (ParameterDefinition, JSONNode) throws(InputErrors) -> Value
    ) throws(InputErrors) -> [String: Value] {
        let mistakes = Mistakes()
        let members = try node.object("an object of parameters", known: parameters.map(\.name), from: listing, mistakes)
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
        let body = PlannedBody(cell)
        var plan = WorkloadPlan(
            shape: shape, needs: needs, operationCount: operations, itemCount: itemCount?(cell) ?? operations,
            workNanoseconds: body == nil ? cell.workNanoseconds : 0, limit: cell.maxConcurrent)
        plan.body = body
        complete(cell, &plan)
        return plan
    }
}

extension Cell {
    /// The cell with 1 for each of the named parameters that it has.
    func reduced(_ names: [String]) -> Cell {
        var parameters = parameters
        for name in names where parameters[name] != nil { parameters[name] = .integer(1) }
        return Cell(workload: workload, shape: shape, parameters: parameters, id: id)
    }
}

/// A workload's kind, by its name in workload files and rows. Each shape has its own parameters (`ShapeDefinition`).
///
/// A shape's file declares its name; `ShapeDefinition.all` lists all shapes.
public struct Shape: Sendable, Hashable, Codable {
    public let rawValue: String

    /// - Parameter name: in small letters, digits and underscores.
    package init(_ name: String) { rawValue = name }
}

/// A guess of the time of a round, from its parameters and the backend.
package struct RoundEstimate: Sendable {
    /// The cost of one operation without its work, in nanoseconds, on every backend with a queue; nil: the backend's
    /// own guess.
    var operationNanoseconds: Double?
    /// Whether operations wait for others, which costs more on some backends.
    var hasDependencies = false
    /// The time that the parameters alone make a round wait, in seconds.
    var pause: @Sendable (Cell) -> Double = { _ in 0 }
    /// The time of a round in seconds, if the other values do not determine it.
    var whole: (@Sendable (Cell, BackendID) -> Double)?
    /// The number of rounds of a latency sample, if they decide its duration; nil: it lasts as long as its target.
    var latencyRounds: @Sendable (Cell) -> Double? = { _ in nil }

    /// In seconds.
    ///
    /// - Parameter operationCount: the numbers of operations and of items of work in a round of the cell.
    func seconds(of cell: Cell, operations: Int, items: Int, on backend: BackendID) -> Double {
        if let whole { return whole(cell, backend) }
        let cost = BackendDefinition.of(backend)?.cost ?? OperationCost()
        let threads = cost.isLoop || cell.maxConcurrent == 1 ? 1.0 : 2
        let work = Double(items) * cell.body.guessedNanoseconds(work: cell.workNanoseconds) / threads
        let each = nanosecondsPerOperation(cost, of: operations)
        return (Double(operations) * each + work + cell.stallNanoseconds) / 1e9 + pause(cell)
    }

    private func nanosecondsPerOperation(_ cost: OperationCost, of operations: Int) -> Double {
        if cost.isLoop { return cost.nanoseconds }
        if let operationNanoseconds { return operationNanoseconds }
        guard hasDependencies, let dependent = cost.dependent else { return cost.nanoseconds }
        return dependent.nanoseconds + dependent.nanosecondsPerOperation * Double(operations)
    }
}

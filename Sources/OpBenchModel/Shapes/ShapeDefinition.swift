/// A shape: its parameters, the plan of a round, what it requires of a backend and how long it takes. The decoder, the
/// published schema, the cell ids, `--help`, the plan and the estimates are all derived from these values.
public struct ShapeDefinition: Sendable {
    public let shape: Shape
    /// The shape in whose way backends execute this one; nil: in its own.
    var executedAs: Shape?
    /// One line for people.
    public let summary: String
    /// In the order in which lists multiply: the first varies slowest.
    public let parameters: [ParameterDefinition]
    /// The number of items of work in one round of a cell; nil: one per operation.
    var itemCount: (@Sendable (Cell) -> Int)?
    /// The number of operations that one round of a cell submits.
    var operationCount: @Sendable (Cell) -> Int = { $0.integer("operations") }
    /// The kinds of sample that are useful for the shape. A file cannot select others.
    public internal(set) var kinds = Set(SampleKind.allCases)
    /// Why a cell's values cannot be combined, and the remedy; nil if they can.
    var problem: @Sendable (Cell) -> (what: String, remedy: String)? = { _ in nil }
    package internal(set) var estimate = RoundEstimate()
    /// A cell that needs the least planning per operation and that a backend supports exactly if it supports the given
    /// cell.
    var sketch: @Sendable (Cell) -> Cell = { $0.reduced(["operations"]) }
    /// Completes the plan of a cell, which has the parts common to all plans.
    let plan: @Sendable (Cell, inout WorkloadPlan) -> Void

    /// The shape under which backends keep their way of executing this one.
    var way: Shape { executedAs ?? shape }

    /// The kinds that a workload has if it names none.
    public var usualKinds: Set<SampleKind> { kinds.filter { !$0.isOnRequest } }

    /// The kinds of sample by name, in the order of tables.
    package var kindNames: [String] { Self.names(of: kinds) }

    static func names(of kinds: Set<SampleKind>) -> [String] {
        SampleKind.allCases.filter(kinds.contains).map(\.rawValue)
    }

    /// The command that prints the parameters.
    var listing: String { "opbench describe \(shape.rawValue)" }

    /// The cell with every parameter at its default, except the given ones.
    package func standardCell(of workload: String, with values: [String: ParameterValue] = [:]) -> Cell {
        Cell(workload: workload, definition: self, values: values)
    }

    /// The parameter of that name, or nil if the shape has none.
    public func parameter(named name: String) -> ParameterDefinition? {
        parameters.first { $0.name == name }
    }

    /// An object of parameters.
    ///
    /// - Parameter format: of the value of one.
    func object<Value: Sendable>(_ format: (ParameterDefinition) -> Format<Value>) -> Format<[String: Value]> {
        .object(
            "an object of parameters", [:],
            parameters.map { parameter in parameter.field(format(parameter)) { $0[parameter.name] = $1 } },
            from: listing
        )
    }

    /// The plan of a cell of this shape. The same cell gives the same plan.
    package func plan(of cell: Cell) -> WorkloadPlan {
        let operations = operationCount(cell)
        let body = PlannedBody(cell)
        var plan = WorkloadPlan(
            shape: shape, way: way, operationCount: operations, itemCount: itemCount?(cell) ?? operations,
            workNanoseconds: body == nil ? cell.workNanoseconds : 0, limit: cell.maxConcurrent)
        plan.body = body
        self.plan(cell, &plan)
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

// MARK: - What a definition gives its cells

extension Cell {
    /// The cell with the seed of one block: the block's number is added to the cell's seed. Blocks thus draw different
    /// arrivals, priorities and graphs, and a figure's interval covers the draw.
    package func drawn(inBlock block: Int) -> Cell {
        guard let seed = parameters["seed"]?.integer else { return self }
        let next = (seed + block) % (ShapeDefinition.exactIntegerLimit + 1)
        return Cell(
            workload: workload, shape: shape, parameters: parameters.merging(["seed": .integer(next)]) { $1 }, id: id)
    }

    /// The cell with the given values, and defaults for all other parameters.
    init(workload: String, definition: ShapeDefinition, values: [String: ParameterValue]) {
        var parameters: [String: ParameterValue] = [:]
        var differing: [String] = []
        for parameter in definition.parameters {
            let value = values[parameter.name] ?? parameter.defaultValue
            parameters[parameter.name] = value
            if value != parameter.defaultValue && parameter.name != "seed" {
                differing.append("\(parameter.name)=\(value)")
            }
        }
        self.init(
            workload: workload, shape: definition.shape, parameters: parameters,
            id: ([workload] + differing.sorted()).joined(separator: " "))
    }

    /// The number of operations that one round submits.
    public var operationCount: Int { ShapeDefinition.of(shape).operationCount(self) }

    /// The number of items of work in one round: one per operation unless the shape says otherwise.
    public var itemCount: Int { ShapeDefinition.of(shape).itemCount?(self) ?? operationCount }

    /// The duration of one round on a backend, in seconds: a guess.
    package func roundSeconds(on backend: BackendID) -> Double {
        ShapeDefinition.of(shape).estimate.seconds(
            of: self, operations: operationCount, items: itemCount, on: backend)
    }

    /// The number of rounds of a latency sample, if they decide its duration; nil: it lasts as long as its target.
    package var latencyRounds: Double? { ShapeDefinition.of(shape).estimate.latencyRounds(self) }
}

extension WorkloadPlan {
    /// The plan of a cell. The same cell gives the same plan, for every backend and in every process.
    package init(_ cell: Cell) { self = ShapeDefinition.of(cell.shape).plan(of: cell) }

    /// The plan without its tables of operations: enough to check whether a backend can express it.
    package static func forSupport(_ cell: Cell) -> WorkloadPlan {
        WorkloadPlan(ShapeDefinition.of(cell.shape).sketch(cell))
    }
}

extension Cell: Codable {
    private enum Key: String, CodingKey { case workload, shape, id, parameters }

    /// The parameters are JSON as in a workload file.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(workload, forKey: .workload)
        try container.encode(shape, forKey: .shape)
        try container.encode(id, forKey: .id)
        let parameters = JSONValue.members(parameters.map { ($0.key, $0.value.json) })
        try container.encode(JSONText.write(parameters), forKey: .parameters)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let shape = try container.decode(Shape.self, forKey: .shape)
        var node = try JSONParser.parse(try container.decode(String.self, forKey: .parameters), file: "cell")
        node.names = .recorded
        self.init(
            workload: try container.decode(String.self, forKey: .workload), shape: shape,
            parameters: try ShapeDefinition.of(shape).object { $0.format }.read(node),
            id: try container.decode(String.self, forKey: .id))
    }
}

/// One point of a workload's parameter product, the same for every backend.
public struct Cell: Sendable, Hashable {
    public let workload: String
    public let shape: Shape
    /// Every parameter of the shape, including defaults.
    public let parameters: [String: ParameterValue]
    /// The workload's name and, separated by single spaces, the sorted `name=value` of the parameters that differ from
    /// their defaults, without the seed: `tiny-vs-batched items_per_operation=10 work_ns=0`. Stable: a new parameter
    /// with a default changes no id. Names and values have no spaces, commas or quotes, so an id needs no quoting in
    /// CSV.
    public let id: String

    public init(workload: String, shape: Shape, parameters: [String: ParameterValue], id: String) {
        self.workload = workload
        self.shape = shape
        self.parameters = parameters
        self.id = id
    }
}

// MARK: - Values by name

extension Cell {
    /// A whole-number parameter of the cell's shape. Traps if the shape has no such parameter.
    public func integer(_ name: String) -> Int {
        guard case .integer(let value) = parameters[name] else {
            preconditionFailure("\(shape.rawValue) has no whole-number parameter \(name)")
        }
        return value
    }

    /// A parameter that is a number. Traps like `integer(_:)`.
    public func number(_ name: String) -> Double {
        guard case .number(let value) = parameters[name] else {
            preconditionFailure("\(shape.rawValue) has no parameter \(name) that is a number")
        }
        return value
    }

    /// A parameter that is one of several words. Traps like `integer(_:)`.
    public func text(_ name: String) -> String {
        guard case .text(let value) = parameters[name] else {
            preconditionFailure("\(shape.rawValue) has no word parameter \(name)")
        }
        return value
    }

    /// The weights of a mix, each above 0, sorted by key. Traps like `integer(_:)`.
    public func weights(_ name: String) -> [(key: String, weight: Double)] {
        guard case .weights(let value) = parameters[name] else {
            preconditionFailure("\(shape.rawValue) has no weights \(name)")
        }
        return value.sorted { $0.key < $1.key }.map { (key: $0.key, weight: $0.value) }
    }

    /// The work of an item in nanoseconds; 0 in shapes without such a parameter.
    var workNanoseconds: Int {
        guard case .integer(let nanoseconds) = parameters["work_ns"] else { return 0 }
        return nanoseconds
    }

    /// The stall in the middle of a round, in nanoseconds; 0 in shapes without such a parameter.
    var stallNanoseconds: Double {
        guard case .integer(let nanoseconds) = parameters["stall_ns"] else { return 0 }
        return Double(nanoseconds)
    }

    /// The queue's limit; nil for `"default"`, the system's choice.
    public var maxConcurrent: Int? {
        guard case .integer(let limit) = parameters["max_concurrent"] else { return nil }
        return limit
    }
}

// Values from the definition of the cell's shape.

extension Cell {
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

    /// The workload's name and every parameter except the seed, sorted, including those at their defaults, which the id
    /// leaves out: `w chains=1 depth=10 max_concurrent=default …`.
    package var fullName: String { Self.fullName(workload: workload, parameters: parameters) }

    /// The full name of a cell from the rows of a run.
    package static func fullName(workload: String, parameters: [String: some CustomStringConvertible]) -> String {
        let values = parameters.filter { $0.key != "seed" }.map { "\($0.key)=\($0.value)" }
        return ([workload] + values.sorted()).joined(separator: " ")
    }

    /// The cell with the seeds of one block: the block's number is added to the cell's seed and to those of its phases.
    /// Blocks thus draw different arrivals, priorities and graphs, and a figure's interval covers the draw.
    package func drawn(inBlock block: Int) -> Cell {
        func raised(_ values: [String: ParameterValue]) -> [String: ParameterValue] {
            guard case .integer(let seed) = values["seed"] else { return values }
            return values.merging(["seed": .integer(seed + block)]) { $1 }
        }
        var parameters = raised(parameters)
        if case .phases(let phases) = parameters["phases"] {
            parameters["phases"] = .phases(
                phases.map { Phase(name: $0.name, shape: $0.shape, values: raised($0.values)) })
        }
        return Cell(workload: workload, shape: shape, parameters: parameters, id: id)
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

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

    /// The greatest number of cells, in one workload and in one run.
    public static let countLimit = 100_000

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
        guard let value = parameters[name]?.integer else {
            preconditionFailure("\(shape.rawValue) has no whole-number parameter \(name)")
        }
        return value
    }

    /// A parameter that is a number. Traps like `integer(_:)`.
    public func number(_ name: String) -> Double {
        guard let value = parameters[name]?.content as? Double else {
            preconditionFailure("\(shape.rawValue) has no parameter \(name) that is a number")
        }
        return value
    }

    /// A parameter that is one of several words. Traps like `integer(_:)`.
    public func text(_ name: String) -> String {
        guard let value = parameters[name]?.content as? String else {
            preconditionFailure("\(shape.rawValue) has no word parameter \(name)")
        }
        return value
    }

    /// The weights of a mix, each above 0, sorted by key. Traps like `integer(_:)`.
    public func weights(_ name: String) -> [(key: String, weight: Double)] {
        guard let value = parameters[name]?.content as? [String: Double] else {
            preconditionFailure("\(shape.rawValue) has no weights \(name)")
        }
        return value.sorted { $0.key < $1.key }.map { (key: $0.key, weight: $0.value) }
    }

    /// The work of an item in nanoseconds; 0 in shapes without such a parameter.
    var workNanoseconds: Int { parameters["work_ns"]?.integer ?? 0 }

    /// The stall in the middle of a round, in nanoseconds; 0 in shapes without such a parameter.
    var stallNanoseconds: Double { Double(parameters["stall_ns"]?.integer ?? 0) }

    /// The queue's limit; nil for `"default"`, the system's choice.
    public var maxConcurrent: Int? { parameters["max_concurrent"]?.integer }
}

extension Cell {
    /// The workload's name and every parameter except the seed, sorted, including those at their defaults, which the id
    /// leaves out: `w chains=1 depth=10 max_concurrent=default …`.
    package var fullName: String { Self.fullName(workload: workload, parameters: parameters) }

    /// The full name of a cell from the rows of a run.
    package static func fullName(workload: String, parameters: [String: some CustomStringConvertible]) -> String {
        let values = parameters.filter { $0.key != "seed" }.map { "\($0.key)=\($0.value)" }
        return ([workload] + values.sorted()).joined(separator: " ")
    }
}

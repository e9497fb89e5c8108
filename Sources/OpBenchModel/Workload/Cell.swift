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
}

// MARK: - Values by name

extension Cell {
    /// A whole-number parameter of the cell's shape. Traps if the shape has no such parameter.
    public func integer(_ name: String) -> Int { value(name, "whole-number parameter") }

    /// A parameter that is a number. Traps like `integer(_:)`.
    public func number(_ name: String) -> Double { value(name, "numeric parameter") }

    /// A parameter that is one of several words. Traps like `integer(_:)`.
    public func text(_ name: String) -> String { value(name, "word parameter") }

    /// The weights of a mix, each above 0, sorted by key. Traps like `integer(_:)`.
    public func weights(_ name: String) -> [(key: String, weight: Double)] {
        let weights: [String: Double] = value(name, "weights")
        return weights.sorted { $0.key < $1.key }.map { (key: $0.key, weight: $0.value) }
    }

    private func value<Value>(_ name: String, _ kind: String) -> Value {
        guard let value = parameters[name]?.content as? Value else {
            preconditionFailure("\(shape.rawValue) has no \(kind) \(name)")
        }
        return value
    }

    /// The work of an item in nanoseconds; 0 in shapes without such a parameter.
    var workNanoseconds: Int { parameters["work_ns"]?.integer ?? 0 }

    /// The stall in the middle of a round, in nanoseconds; 0 in shapes without such a parameter.
    var stallNanoseconds: Double { Double(parameters["stall_ns"]?.integer ?? 0) }

    /// The queue's limit; nil for `"default"`, the system's choice.
    public var maxConcurrent: Int? { parameters["max_concurrent"]?.integer }

    /// The workload's name and every parameter except the seed, sorted, including those at their defaults, which the id
    /// leaves out: `w chains=1 depth=10 max_concurrent=default …`.
    package var fullName: String { Self.fullName(workload: workload, parameters: parameters) }

    /// The full name of a cell from the rows of a run.
    package static func fullName(workload: String, parameters: [String: some CustomStringConvertible]) -> String {
        let values = parameters.filter { $0.key != "seed" }.map { "\($0.key)=\($0.value)" }
        return ([workload] + values.sorted()).joined(separator: " ")
    }
}

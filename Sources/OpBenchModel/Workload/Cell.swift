/// One point of a workload's parameter product, the same for every backend.
public struct Cell: Sendable, Hashable {
    public let workload: String
    public let shape: Shape
    /// Every parameter of the shape, defaults filled in.
    public let parameters: [String: ParameterValue]
    /// The workload's name and, separated by single spaces, the sorted `name=value` of the parameters that differ
    /// from their defaults, without the seed: `tiny-vs-batched items_per_operation=10 work_ns=0`. Stable: a new
    /// parameter with a default changes no id. Neither names nor values hold spaces, commas or quotes, so that an id
    /// needs no quoting in CSV.
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
    /// A whole-number parameter of the cell's shape. A name that is none is a mistake of the program, not of its
    /// user, and traps.
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

    /// A parameter that is one of several words. Traps as `integer(_:)` does.
    public func text(_ name: String) -> String {
        guard case .text(let value) = parameters[name] else {
            preconditionFailure("\(shape.rawValue) has no word parameter \(name)")
        }
        return value
    }

    /// The weights of a mix, each above 0, sorted by key. Traps as `integer(_:)` does.
    public func weights(_ name: String) -> [(key: String, weight: Double)] {
        guard case .weights(let value) = parameters[name] else {
            preconditionFailure("\(shape.rawValue) has no weights \(name)")
        }
        return value.sorted { $0.key < $1.key }.map { (key: $0.key, weight: $0.value) }
    }

    /// The queue's limit; nil for `"default"`, the system's choice.
    public var maxConcurrent: Int? {
        guard case .integer(let limit) = parameters["max_concurrent"] else { return nil }
        return limit
    }
}

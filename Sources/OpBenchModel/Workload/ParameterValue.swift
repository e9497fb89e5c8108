/// One parameter's value in one cell.
public enum ParameterValue: Codable, Sendable, Hashable {
    case integer(Int)
    case number(Double)
    case text(String)
    /// Relative weights by key, as in `mix`; each above 0.
    case weights([String: Double])
    case phases([Phase])
    case recording(RecordedLoad)
    /// A body with values of its own; without, it is a `text`.
    case body(BodyChoice)
}

extension ParameterValue: CustomStringConvertible {
    /// The canonical text: in `cell_id`, in the `param_` columns and after `--set`. Weights are `key:weight` by
    /// ascending key, joined by `/`: `high:1/low:2.5`; phases are joined by `+`; a recording is its digest; a body has its
    /// own text. No value contains a space, a comma, a quote or `=`.
    public var description: String {
        switch self {
        case .integer(let value): String(value)
        case .number(let value): FigureText.write(value)
        case .text(let value): value
        case .weights(let weights):
            weights.sorted { $0.key < $1.key }.map { "\($0.key):\(FigureText.write($0.value))" }.joined(separator: "/")
        case .phases(let phases): phases.map(\.description).joined(separator: "+")
        case .recording(let load): load.digest
        case .body(let body): body.description
        }
    }
}

extension ParameterValue {
    /// The value as JSON, for the schema and for values from the command line.
    var json: JSONValue {
        switch self {
        case .integer(let value): JSONValue(.number(JSONNumber(text: String(value))))
        case .number(let value): JSONValue(.number(JSONNumber(text: FigureText.write(value))))
        case .text(let value): JSONValue(.string(value))
        case .weights(let weights):
            JSONValue(
                .object(
                    weights.sorted { $0.key < $1.key }.map { key, weight in
                        .init(name: key, line: 0, value: JSONValue(.number(JSONNumber(text: FigureText.write(weight)))))
                    }))
        case .phases(let phases): JSONValue(.array(phases.map(\.json)))
        case .recording(let load): load.json
        case .body(let body): body.json
        }
    }
}

/// One phase of a sequence, as written in a file.
public struct Phase: Codable, Sendable, Hashable {
    public var name: String
    public var shape: Shape
    /// The parameters that the file sets.
    public var values: [String: ParameterValue]

    public init(name: String, shape: Shape, values: [String: ParameterValue]) {
        (self.name, self.shape, self.values) = (name, shape, values)
    }

    /// The most phases of a sequence, and the longest name.
    static let countLimit = 16
    static let nameLimit = 32
}

extension Phase: CustomStringConvertible {
    /// The text in `cell_id`: `trickle:wakeup/operations:100/pause_ns:100000`.
    public var description: String {
        (["\(name):\(shape.rawValue)"] + values.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" })
            .joined(separator: "/")
    }
}

/// The five queue priorities by their names in workload files, lowest first.
public enum PriorityLevel: String, CaseIterable, Sendable {
    case veryLow = "very_low"
    case low, normal, high
    case veryHigh = "very_high"
}

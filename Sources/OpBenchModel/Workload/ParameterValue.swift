/// One parameter's value, which many cells have: a JSON value with a canonical text, and what is decoded from it.
public final class ParameterValue: Sendable {
    /// The canonical text: in `cell_id`, in the `param_` columns and after `--set`. It contains no space, comma, quote or
    /// `=`, and two values of one parameter are equal if their texts are.
    public let description: String
    /// The value as in a file.
    let json: JSONValue
    /// An `Int`, a `Double`, a `String`, weights, or a value of the parameter's own type.
    package let content: any Sendable

    init(_ content: some Sendable, text: String, json: JSONValue) {
        (self.content, self.description, self.json) = (content, text, json)
    }

    public static func integer(_ value: Int) -> ParameterValue {
        .init(value, text: String(value), json: .integer(value))
    }

    public static func number(_ value: Double) -> ParameterValue {
        .init(value, text: FigureText.write(value), json: .number(FigureText.write(value)))
    }

    public static func text(_ value: String) -> ParameterValue { .init(value, text: value, json: .string(value)) }

    /// Relative weights by key, each above 0. The text is `key:weight` by ascending key, joined by `/`: `high:1/low:2.5`.
    public static func weights(_ weights: [String: Double]) -> ParameterValue {
        let sorted = weights.sorted { $0.key < $1.key }.map { ($0.key, FigureText.write($0.value)) }
        return .init(
            weights, text: sorted.map { "\($0):\($1)" }.joined(separator: "/"),
            json: .members(sorted.map { ($0, .number($1)) }))
    }

    /// The value, if it is a whole number.
    public var integer: Int? { content as? Int }
}

extension ParameterValue: Hashable, CustomStringConvertible {
    public static func == (left: ParameterValue, right: ParameterValue) -> Bool {
        left.description == right.description
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// The five queue priorities by their names in workload files, lowest first. Their raw values are -8, -4, 0, 4 and 8.
public enum PriorityName: String, CaseIterable, Sendable {
    case veryLow = "very_low"
    case low, normal, high
    case veryHigh = "very_high"
}

/// One parameter of a shape, declared once for the decoder, the schema, the cell ids and the help.
public struct ParameterDefinition: Sendable {
    public let name: String
    /// One value; a file may also give a list of them.
    let format: Format<ParameterValue>
    public let defaultValue: ParameterValue
    /// One line for people.
    public let summary: String
    /// `ns`, `B`, `count`, or empty if the value has none.
    public internal(set) var unit = ""
    /// Whether a file may give several values. The seed takes one: it is not part of a `cell_id`, so cells that differ
    /// only in the seed could not be distinguished.
    public internal(set) var takesList = true

    /// The allowed values and the default, in one sentence.
    public var facts: String {
        let parts: [String?] = [
            format.allowed, unit.isEmpty ? nil : "unit \(unit)", "default \(defaultValue)",
            takesList ? nil : "takes one value, not a list",
        ]
        let facts = parts.compactMap(\.self).joined(separator: "; ")
        return facts.prefix(1).uppercased() + facts.dropFirst() + "."
    }

    /// The parameter as a member of an object, in a format for one or several values.
    func field<Root, Value>(
        _ format: Format<Value>, keep: @escaping @Sendable (inout Root, Value) -> Void
    ) -> Field<Root> {
        let described = format.checked(["default": defaultValue.json]) { value, _ in value }
        return Field(name, described, unit.isEmpty ? summary : "\(summary) Unit: \(unit).", keep: keep)
    }

    /// A list of values.
    ///
    /// - Parameter name: the text of a value that appears at most once; nil if values may repeat.
    func list(
        _ allowed: String, distinct name: (@Sendable (ParameterValue) -> String)? = nil
    ) -> Format<[ParameterValue]> {
        format.list(
            allowed, atMost: Cell.countLimit,
            advice: "a workload has at most \(Cell.countLimit) cells; shorten the list", distinct: name)
    }

    /// One value or a list of distinct ones.
    var values: Format<[ParameterValue]> {
        let one = format.map { [$0] }
        let list = list("\(format.allowed), or a list of such values") { $0.description }
        let both = Format<[ParameterValue]>(list.allowed, schema: .anyOf(one.schema, list.schema), read: list.read)
        let several = takesList ? both.shared() : one
        return Format<[ParameterValue]>(list.allowed, schema: several.schema) {
            [name, takesList, defaultValue] node throws(InputErrors) in
            guard node.value.isList, !defaultValue.json.isList else { return try one.read(node) }
            guard takesList else {
                throw node.error("\(name) takes one value, not a list", remedy: "write \(one.allowed)")
            }
            return try list.read(node)
        }
    }
}

// MARK: - The parameters of several shapes

extension ParameterDefinition {
    static func count(_ name: String, _ range: ClosedRange<Int>, _ value: Int, _ summary: String) -> Self {
        .init(name: name, format: .wholeNumber(range), defaultValue: .integer(value), summary: summary, unit: "count")
    }

    static func nanoseconds(_ name: String, _ range: ClosedRange<Int>, _ value: Int, _ summary: String) -> Self {
        .init(name: name, format: .wholeNumber(range), defaultValue: .integer(value), summary: summary, unit: "ns")
    }

    static func bytes(_ name: String, _ range: ClosedRange<Int>, _ value: Int, _ summary: String) -> Self {
        .init(name: name, format: .wholeNumber(range), defaultValue: .integer(value), summary: summary, unit: "B")
    }

    /// The first choice is the default.
    static func choice(_ name: String, _ choices: [String], _ summary: String) -> Self {
        .init(name: name, format: .word(among: choices), defaultValue: .text(choices[0]), summary: summary)
    }
}

// MARK: - Formats of one value

extension Format<ParameterValue> {
    static func wholeNumber(_ range: ClosedRange<Int>) -> Format {
        Format<Int>.integer(range).map { .integer($0) }.shared()
    }

    static func realNumber(_ range: ClosedRange<Double>) -> Format {
        Format<Double>.number(range).map { .number($0) }.shared()
    }

    static func word(among words: [String]) -> Format {
        Format<String>.choice(words, from: "opbench describe").map { .text($0) }.shared()
    }

    /// A whole number or one word, as in `max_concurrent`.
    static func wholeNumber(_ range: ClosedRange<Int>, orWord word: String) -> Format {
        let allowed = "\"\(word)\" or \(Format<Int>.integer(range).allowed)"
        let words = Format(allowed, schema: ["const": .string(word)]) { node throws(InputErrors) in
            guard case .string(let text) = node.value.content, text != word else { return .text(word) }
            throw node.error("unknown \(node.name) \(JSONText.excerpt(text))", remedy: "write \(allowed)")
        }
        let numbers = Format<Int>.integer(range, in: allowed).map { ParameterValue.integer($0) }
        return Format.either(allowed, text: words, number: numbers).shared()
    }
}

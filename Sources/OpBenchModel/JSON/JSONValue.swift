/// A JSON value with details that Foundation's parser drops: the order of members, the line of each value and the
/// spelling of numbers. (`JSONSerialization` also drops duplicate members silently.)
struct JSONValue: Sendable {
    enum Content: Sendable {
        case null
        case boolean(Bool)
        case number(JSONNumber)
        case string(String)
        case array([JSONValue])
        case object([Member])
    }

    struct Member: Sendable {
        let name: String
        let line: Int
        let value: JSONValue
    }

    let content: Content
    /// From 1; 0 in a value made in code.
    let line: Int

    init(_ content: Content, line: Int = 0) {
        self.content = content
        self.line = line
    }

    var isList: Bool { if case .array = content { true } else { false } }
    var isObject: Bool { if case .object = content { true } else { false } }

    /// The kind of value, for messages: `a string`, `a list`.
    var kindName: String {
        switch content {
        case .null: "null"
        case .boolean: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

/// A number as written. JSON sets no bounds, so the text is kept and each reader converts what it can represent.
struct JSONNumber: Sendable, Hashable {
    let text: String

    /// Infinite if the text exceeds a Double, as `1e400` does.
    var double: Double { Double(text) ?? .nan }

    /// Whether the value is whole, however it is written: `100`, `1e2` and `100.0` are.
    var isWhole: Bool {
        isPlainDigits || (double.isFinite && double.rounded() == double)
    }

    /// Nil for fractions and for whole numbers beyond Int.
    var integer: Int? { isPlainDigits ? Int(text) : Int(exactly: double) }

    private var isPlainDigits: Bool { text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (48...57).contains($0) } }
}

// MARK: - Values made in code

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
    init(stringLiteral text: String) { self.init(.string(text)) }
    init(booleanLiteral flag: Bool) { self.init(.boolean(flag)) }

    static func string(_ text: String) -> JSONValue { JSONValue(.string(text)) }
    static func number(_ text: String) -> JSONValue { JSONValue(.number(JSONNumber(text: text))) }
    static func integer(_ number: Int) -> JSONValue { .number(String(number)) }
    static func list(_ elements: JSONValue...) -> JSONValue { JSONValue(.array(elements)) }
    static func strings(_ texts: [String]) -> JSONValue { JSONValue(.array(texts.map(JSONValue.string))) }
    static func object(_ members: (String, JSONValue)...) -> JSONValue { .members(members) }

    static func members(_ members: [(String, JSONValue)]) -> JSONValue {
        JSONValue(.object(members.map { Member(name: $0.0, line: 0, value: $0.1) }))
    }
}

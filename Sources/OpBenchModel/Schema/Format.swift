/// The values that a place in a JSON file may have, said once: the words of messages and help, the JSON Schema, and the
/// decoder with its checks.
struct Format<Value>: Sendable {
    /// The allowed values: `a whole number from 1 to 512`.
    let allowed: String
    private var makeSchema: @Sendable () -> Schema
    /// Decodes a value, or throws everything that is wrong with it.
    let read: @Sendable (JSONNode) throws(InputErrors) -> Value
    /// Whether some values are numbers, which conditions may bound.
    let isNumeric: Bool
    /// Makes JSON of a text of the command line; nil for a text of another form.
    var parse: (@Sendable (String) -> JSONValue?)?

    init(
        _ allowed: String, isNumeric: Bool = false, schema: @autoclosure @escaping @Sendable () -> Schema,
        read: @escaping @Sendable (JSONNode) throws(InputErrors) -> Value
    ) {
        (self.allowed, self.isNumeric, self.makeSchema, self.read) = (allowed, isNumeric, schema, read)
    }

    var schema: Schema { makeSchema() }

    func map<Other>(_ change: @escaping @Sendable (Value) -> Other) -> Format<Other> {
        checked { value, _ in change(value) }
    }

    /// The format with a further check, which a schema does not express, or which `schema` adds.
    func checked<Other>(
        _ more: @autoclosure @escaping @Sendable () -> Schema = [:],
        _ check: @escaping @Sendable (Value, JSONNode) throws(InputErrors) -> Other
    ) -> Format<Other> {
        var format = Format<Other>(allowed, isNumeric: isNumeric, schema: schema + more()) { node throws(InputErrors) in
            try check(try read(node), node)
        }
        format.parse = parse
        return format
    }

    /// The format with a schema that is written once, and that others refer to.
    ///
    /// - Parameter name: of the definition; nil for the allowed values in words.
    func shared(as name: String? = nil) -> Format {
        var format = self
        format.makeSchema = {
            let words = allowed.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            return makeSchema().named(name ?? words.joined(separator: "-"))
        }
        return format
    }

    /// A value of the command line as JSON: one that has no form of the format stays text, and is refused when it is
    /// read.
    func json(of text: String) -> JSONValue {
        if isNumeric, FigureText.read(text) != nil || Int(text) != nil { return .number(text) }
        return parse?(text) ?? .string(text)
    }

    /// Any value; it is not read.
    static func any(_ allowed: String, _ schema: @autoclosure @escaping @Sendable () -> Schema, _ value: Value)
        -> Format where Value: Sendable
    {
        Format(allowed, schema: schema()) { _ in value }
    }

    /// Decodes a whole file.
    ///
    /// - Parameter format: the format of the root, which may depend on what is in it.
    static func decode(
        text: String, file: String, names: BackendNames = .known, _ format: (JSONNode) -> Format
    ) throws(InputErrors) -> Value {
        let mistakes = Mistakes()
        var root = try JSONParser.read(text, file: file, mistakes)
        root.names = names
        let value = mistakes.keep { () throws(InputErrors) in try format(root).read(root) }
        try mistakes.check()
        // Every cause of a missing value was noted as a mistake.
        return value!
    }
}

// MARK: - Numbers

extension Format<Int> {
    /// - Parameter words: the allowed values; nil for the range in words.
    static func integer(_ range: ClosedRange<Int>, in words: String? = nil) -> Format {
        let (least, most) = (range.lowerBound, range.upperBound)
        let allowed = words ?? (least == most ? "\(least)" : "a whole number from \(least) to \(most)")
        return Format(
            allowed, isNumeric: true,
            schema: ["type": "integer", "minimum": .integer(least), "maximum": .integer(most)]
        ) { node throws(InputErrors) in
            let number = try node.number(allowed)
            guard number.isWhole || !number.double.isFinite else {
                throw node.error("\(number.excerpt) is not a whole number", remedy: "\(node.name) is \(allowed)")
            }
            guard let integer = number.integer, range.contains(integer) else {
                throw node.error("\(number.excerpt) is out of range", remedy: "\(node.name) is \(allowed)")
            }
            return integer
        }
    }
}

extension Format<Double> {
    static func number(_ range: ClosedRange<Double>) -> Format {
        let (least, most) = (FigureText.write(range.lowerBound), FigureText.write(range.upperBound))
        let allowed = "a number from \(least) to \(most)"
        return Format(
            allowed, isNumeric: true, schema: ["type": "number", "minimum": .number(least), "maximum": .number(most)]
        ) {
            node throws(InputErrors) in
            let number = try node.number(allowed)
            guard range.contains(number.double) else {
                throw node.error("\(number.excerpt) is out of range", remedy: "\(node.name) is \(allowed)")
            }
            // −0 is 0.
            return number.double + 0
        }
    }
}

extension JSONNode {
    fileprivate func number(_ expected: String) throws(InputErrors) -> JSONNumber {
        guard case .number(let number) = value.content else { throw wrongType(expected: expected) }
        return number
    }
}

extension JSONNumber {
    fileprivate var excerpt: String { text.count > 40 ? text.prefix(40) + "…" : text }
}

// MARK: - Texts

extension Format<String> {
    /// - Parameter lengths: the number of characters.
    static func text(_ allowed: String, _ lengths: ClosedRange<Int> = 0...Int.max) -> Format {
        let (least, most) = (lengths.lowerBound, lengths.upperBound)
        let shortest: Schema = least > 0 ? ["minLength": .integer(least)] : [:]
        let longest: Schema = most < .max ? ["maxLength": .integer(most)] : [:]
        return Format(allowed, schema: ["type": "string"] + shortest + longest) { node throws(InputErrors) in
            guard case .string(let text) = node.value.content else { throw node.wrongType(expected: allowed) }
            let count = text.unicodeScalars.count
            guard lengths.contains(count) else {
                throw node.error(
                    "\(node.name) has \(counted(count, "character"))",
                    remedy: "write \(allowed) of \(least > 0 ? "\(least) to" : "at most") \(most) characters")
            }
            return text
        }
    }

    /// One line of text for people.
    static func sentence(_ allowed: String) -> Format {
        text(allowed, 1...200).checked(.oneLine) { text, node throws(InputErrors) in
            guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
                throw node.error(
                    "\(node.name) has a line break or another control character", remedy: "write \(allowed)")
            }
            return text
        }
    }

    /// One of several words.
    ///
    /// - Parameters:
    ///   - thing: what they name; nil for the member's name.
    ///   - command: the command that prints all words.
    ///   - note: another possible cause of an unknown word, added to the remedy.
    static func choice(
        _ choices: [String], _ thing: String? = nil, from command: String? = nil, note: String? = nil
    ) -> Format {
        let quoted = choices.map { "\"\($0)\"" }
        return Format("one of " + quoted.joined(separator: ", "), schema: ["enum": .strings(choices)]) {
            node throws(InputErrors) in
            let thing = thing ?? node.name
            guard case .string(let text) = node.value.content else {
                throw node.error(
                    "\(node.value.kindName) found in place of the \(thing)",
                    remedy: "write one of \(Suggestion.list(quoted, from: command))")
            }
            guard choices.contains(text) else {
                throw node.error(
                    "unknown \(thing) \(JSONText.excerpt(text))",
                    remedy: Suggestion.remedy(for: text, among: choices, from: command) + (note.map { "; \($0)" } ?? "")
                )
            }
            return text
        }
    }
}

// MARK: - Lists and alternatives

extension Format {
    /// A list of at least one such value.
    ///
    /// - Parameters:
    ///   - advice: the remedy if there are more values; nil says how many are allowed.
    ///   - remedy: the advice if a value appears twice.
    ///   - name: the text of a value that appears at most once; nil if values may repeat.
    func list(
        _ allowed: String, atMost limit: Int? = nil, advice: String? = nil, remedy: String = "keep one of the two",
        distinct name: (@Sendable (Value) -> String)? = nil
    ) -> Format<[Value]> {
        let unique: Schema = name == nil ? [:] : ["uniqueItems": true]
        let most: Schema = limit.map { ["maxItems": .integer($0)] } ?? [:]
        return Format<[Value]>(
            allowed,
            schema: ["type": "array", "minItems": .integer(1)] + most + unique + .keyword("items", [schema]) { $0[0] }
        ) { node throws(InputErrors) in
            let elements = try node.elements(allowed)
            if let limit, elements.count > limit {
                throw node.error(
                    "the list has \(elements.count) entries", remedy: advice ?? "at most \(limit) are allowed")
            }
            let mistakes = Mistakes()
            var (values, seen): ([Value], Set<String>) = ([], [])
            for element in elements {
                guard let value = mistakes.keep({ () throws(InputErrors) in try read(element) }) else { continue }
                if let name = name?(value), !seen.insert(name).inserted {
                    mistakes.note(element.mistake("\(name) appears twice in the list", remedy: remedy))
                }
                values.append(value)
            }
            try mistakes.check()
            return values
        }
    }

    /// The formats of some kinds of JSON value.
    static func either(
        _ allowed: String, text: Format? = nil, number: Format? = nil, list: Format? = nil, object: Format? = nil
    ) -> Format {
        Format(
            allowed, isNumeric: number?.isNumeric ?? false,
            schema: .keyword("anyOf", [text, number, list, object].compactMap { $0?.schema }) { JSONValue(.array($0)) }
        ) { node throws(InputErrors) in
            let format =
                switch node.value.content {
                case .string: text
                case .number: number
                case .array: list
                case .object: object
                case .null, .boolean: nil as Format?
                }
            guard let format else { throw node.wrongType(expected: allowed) }
            return try format.read(node)
        }
    }
}

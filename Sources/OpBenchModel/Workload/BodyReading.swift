extension BodyChoice {
    /// Decodes a body: its name, or an object of one name with the body's values.
    ///
    /// - Parameters:
    ///   - isPart: whether it is a part of a mix, which is no mix.
    ///   - names: the names that the file may have.
    init(_ node: JSONNode, isPart: Bool = false, _ names: BackendNames) throws(InputErrors) {
        let known = BodyDefinition.all.map(\.name) + (isPart ? [] : [BodyDefinition.mix])
        guard case .object = node.value.content else {
            if names == .recorded, case .string(let name) = node.value.content, DeclaredBodies.isName(name),
                !known.contains(name)
            {
                self.init(name)
                return
            }
            let name = try node.choice(
                "body", among: known, from: BodyDefinition.listing, note: DeclaredBodies.declaredElsewhere)
            if name == BodyDefinition.mix {
                throw node.error("a mix without bodies", remedy: "write {\"mix\": […]} with \(Self.allowedPart)")
            }
            self.init(name)
            return
        }
        let mistakes = Mistakes()
        let members = try node.object(Self.allowed, known: known, from: BodyDefinition.listing, mistakes)
        if members.count > 1 {
            mistakes.note(node.mistake("\(members.count) bodies", remedy: "write one, or a mix of several"))
        }
        guard members.count == 1, let (name, values) = members.first else {
            try mistakes.check()
            throw node.error("no body", remedy: "write \(Self.allowed)")
        }
        let read = mistakes.keep { () throws(InputErrors) in
            name == BodyDefinition.mix
                ? BodyChoice(name, parts: try Self.parts(values, names)) : try Self.fields(values, of: name)
        }
        try mistakes.check()
        self = read!
    }

    /// The allowed values, for messages and help.
    static let allowed =
        "the name of a body, or an object such as {\"memory\": {\"stride_bytes\": 4096}}"

    private static let allowedPart = "objects with weight and body"

    private static func fields(_ node: JSONNode, of name: String) throws(InputErrors) -> BodyChoice {
        let definitions = BodyDefinition.of(name)?.fields ?? []
        let mistakes = Mistakes()
        let members = try node.object(
            "an object of values", known: definitions.map(\.name), from: BodyDefinition.listing, mistakes)
        var fields: [String: Int] = [:]
        for definition in definitions {
            let value = mistakes.keep(members[definition.name]) { node throws(InputErrors) in
                try definition.value(from: node)
            }
            if case .integer(let integer) = value, value != definition.defaultValue {
                fields[definition.name] = integer
            }
        }
        try mistakes.check()
        return BodyChoice(name, fields: fields)
    }

    private static func parts(_ node: JSONNode, _ names: BackendNames) throws(InputErrors) -> [Part] {
        let elements = try node.elements("a list of \(allowedPart)")
        guard elements.count <= partLimit else {
            throw node.error("\(elements.count) bodies", remedy: "at most \(partLimit) are allowed")
        }
        let mistakes = Mistakes()
        let parts = elements.compactMap { element in
            mistakes.keep { () throws(InputErrors) in try Part(element, names) }
        }
        try mistakes.check()
        return parts
    }

    /// `mix/9:cpu/1:sleep/sleep_ns:5000` as JSON; nil for a text of another form.
    static func json(of text: String) -> JSONValue? {
        let words = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var (name, fields, parts) = (words[0], [(String, JSONValue)](), [(weight: Int, body: JSONValue)]())
        func body() -> JSONValue { fields.isEmpty ? .string(name) : .object((name, .members(fields))) }
        let isMix = name == BodyDefinition.mix
        var weight: Int?
        for word in words.dropFirst() {
            let halves = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard halves.count == 2 else { return nil }
            if isMix, let next = Int(halves[0]) {
                if let weight { parts.append((weight, body())) }
                (weight, name, fields) = (next, halves[1], [])
            } else {
                guard Int(halves[1]) != nil else { return nil }
                fields.append((halves[0], JSONValue(.number(JSONNumber(text: halves[1])))))
            }
        }
        guard isMix else { return body() }
        guard let weight else { return nil }
        parts.append((weight, body()))
        return .object(
            (
                BodyDefinition.mix,
                JSONValue(.array(parts.map { .object(("weight", .integer($0.weight)), ("body", $0.body)) }))
            ))
    }
}

extension BodyChoice.Part {
    fileprivate init(_ node: JSONNode, _ names: BackendNames) throws(InputErrors) {
        let mistakes = Mistakes()
        let members = try node.object(
            "a part of a mix", known: ["weight", "body"], required: ["weight", "body"], mistakes)
        let weights = ParameterDefinition.count("weight", BodyChoice.weights, 1, "")
        let weight = mistakes.keep(members["weight"]) { node throws(InputErrors) in try weights.value(from: node) }
        let body = mistakes.keep(members["body"]) { node throws(InputErrors) in
            try BodyChoice(node, isPart: true, names)
        }
        try mistakes.check()
        guard case .integer(let number) = weight else { preconditionFailure("a weight is a whole number") }
        self.init(weight: number, body: body!)
    }
}

// MARK: - The schema

extension JSONSchema {
    /// The definitions of a body, of one that is no mix, and of a mix's part. `body` is the parameter's.
    static var body: JSONValue { .object(("anyOf", .list(.reference("body.single"), mixOfBodies))) }

    static var bodyDefinitions: [(String, JSONValue)] { [("body.single", singleBody), ("body.part", bodyPart)] }

    private static var mixOfBodies: JSONValue {
        object(
            of: BodyDefinition.mix,
            .object(
                ("description", .string(BodyDefinition.mixSummary)), ("type", "array"), ("minItems", .integer(1)),
                ("maxItems", .integer(BodyChoice.partLimit)),
                ("items", .reference("body.part"))))
    }

    private static var singleBody: JSONValue {
        let objects = BodyDefinition.all.map { definition in
            object(
                of: definition.name,
                .object(
                    ("description", .string(definition.summary)), ("type", "object"), noOtherMembers, comments,
                    ("properties", .members(definition.fields.map { ($0.name, field($0)) }))))
        }
        return .object(("anyOf", JSONValue(.array([bodyNames] + objects))))
    }

    /// The bodies that need no values.
    static var bodyNames: JSONValue { .object(("enum", .strings(BodyDefinition.all.map(\.name)))) }

    private static var bodyPart: JSONValue {
        .object(
            ("type", "object"), ("required", .strings(["weight", "body"])), noOtherMembers, comments,
            (
                "properties",
                .object(
                    (
                        "weight",
                        .object(
                            ("type", "integer"), ("minimum", .integer(BodyChoice.weights.lowerBound)),
                            ("maximum", .integer(BodyChoice.weights.upperBound)))
                    ), ("body", .reference("body.single")))
            ))
    }

    private static func object(of name: String, _ values: JSONValue) -> JSONValue {
        .object(
            ("type", "object"), ("required", .strings([name])), noOtherMembers, comments,
            ("properties", .object((name, values))))
    }

    private static func field(_ definition: ParameterDefinition) -> JSONValue {
        let unit = definition.unit.isEmpty ? "" : " Unit: \(definition.unit)."
        guard case .integer(let range) = definition.kind else { preconditionFailure("whole numbers only") }
        return .object(
            ("description", .string(definition.summary + unit)), ("default", definition.defaultValue.json),
            ("type", "integer"), ("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound)))
    }
}

extension Format<ParameterValue> {
    /// The work of an item. The format is made when it is used: a program may declare bodies.
    static var body: Format {
        var format = Format(BodyChoice.allowed, schema: BodyChoice.format().schema.named("body")) {
            node throws(InputErrors) in try BodyChoice.format().read(node).value
        }
        format.parse = BodyChoice.json
        return format
    }
}

extension BodyChoice {
    /// The allowed values, for messages and help.
    fileprivate static let allowed =
        "the name of a body, or an object such as {\"memory\": {\"stride_bytes\": 4096}}"

    /// A body's name, or an object of one name with the body's values.
    ///
    /// - Parameter isPart: whether it is a part of a mix, which is no mix.
    fileprivate static func format(isPart: Bool = false) -> Format<BodyChoice> {
        var fields: [Field<[BodyChoice]>] = BodyDefinition.all.map { body in
            Field(body.name, values(of: body), body.summary) { $0.append($1) }
        }
        if !isPart { fields.append(Field(BodyDefinition.mix, mix, BodyDefinition.mixSummary) { $0.append($1) }) }
        let names = fields.map(\.name)
        let oneOf = names.map { JSONValue.object(("required", .strings([$0]))) }
        let object = Format.object(allowed, [], fields, from: BodyDefinition.listing)
            .checked(["oneOf": JSONValue(.array(oneOf))]) { bodies, node throws(InputErrors) in
                if bodies.count > 1 {
                    throw node.error("\(bodies.count) bodies", remedy: "write one, or a mix of several")
                }
                guard let body = bodies.first else { throw node.error("no body", remedy: "write \(allowed)") }
                return body
            }
        let word = word(names)
        return Format(allowed, schema: .anyOf(word.schema, object.schema)) { node throws(InputErrors) in
            try node.value.isObject ? object.read(node) : word.read(node)
        }
    }

    /// The name of a body that needs no values; in recorded files, of any.
    private static func word(_ names: [String]) -> Format<BodyChoice> {
        let known = Format.choice(
            names, "body", from: BodyDefinition.listing, note: DeclaredBodies.declaredElsewhere)
        return Format(known.allowed, schema: ["enum": .strings(names.filter { $0 != BodyDefinition.mix })]) {
            node throws(InputErrors) in
            if node.names == .recorded, case .string(let name) = node.value.content, DeclaredBodies.isName(name),
                !names.contains(name)
            {
                return BodyChoice(name)
            }
            let name = try known.read(node)
            if name == BodyDefinition.mix {
                throw node.error("a mix without bodies", remedy: "write {\"mix\": […]} with objects of weight and body")
            }
            return BodyChoice(name)
        }
    }

    private static func values(of body: BodyDefinition) -> Format<BodyChoice> {
        Format<[String: Int]>.object(
            "an object of values", [:],
            body.fields.map { field in
                field.field(field.format) { if $1 != field.defaultValue { $0[field.name] = $1.integer } }
            }, from: BodyDefinition.listing
        ).map { BodyChoice(body.name, fields: $0) }
    }

    private static var mix: Format<BodyChoice> {
        let part = Format.object(
            "a part of a mix", Part(weight: 1, body: .cpu),
            [
                Field("weight", Format<Int>.integer(weights), isRequired: true) { $0.weight = $1 },
                Field("body", format(isPart: true), isRequired: true) { $0.body = $1 },
            ])
        return part.list("a list of objects with weight and body", atMost: partLimit)
            .map { BodyChoice(BodyDefinition.mix, parts: $0) }
    }

    /// `mix/9:cpu/1:sleep/sleep_ns:5000` as JSON; nil for a text of another form.
    @Sendable
    fileprivate static func json(of text: String) -> JSONValue? {
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
                fields.append((halves[0], .number(halves[1])))
            }
        }
        guard isMix else { return body() }
        guard let weight else { return nil }
        parts.append((weight, body()))
        return mix(parts)
    }
}

/// Relative weights by key. Those of 0 are left out.
extension Format<ParameterValue> {
    /// The greatest weight, and the most weights of one mix: every key is a class with figures of its own.
    private static var weight: Format<Double> { .number(0...1_000_000) }
    private static var weightLimit: Int { 100 }

    static func weights(of keys: [String]) -> Format {
        let names = keys.joined(separator: ", ")
        let object = Format<[String: Double]>.object(
            "an object of weights by \(names)", [:], keys.map { key in Field(key, weight) { $0[key] = $1 } })
        return weights(object, by: names)
    }

    /// The keys are numbers from 0 to 1 as texts of at most six decimals; `0.50` and `0.5` are one key.
    static var weightsOfFractions: Format {
        let names = "a number from 0.0 to 1.0 as a string"
        let object = Format<[String: Double]>(
            "an object of weights by \(names)", schema: fractionSchema,
            read: { node throws(InputErrors) in
                let mistakes = Mistakes()
                var weights: [String: Double] = [:]
                // Comments count here, as they do in a schema.
                if case .object(let members) = node.value.content, members.count > weightLimit {
                    throw node.error("\(members.count) weights", remedy: "at most \(weightLimit) are allowed")
                }
                for member in try node.members("an object of weights by \(names)") {
                    let entry = node.child(member)
                    guard let key = fraction(member.name) else {
                        mistakes.note(
                            entry.mistake(
                                "unknown key \(JSONText.excerpt(member.name))",
                                remedy: "a key is \(names), with at most six decimals"))
                        continue
                    }
                    let value = mistakes.keep { () throws(InputErrors) in try weight.read(entry) }
                    if weights.updateValue(value ?? 0, forKey: key) != nil {
                        mistakes.note(
                            entry.mistake("the weight of \(key) is given twice", remedy: "keep one of the two"))
                    }
                }
                try mistakes.check()
                return weights
            })
        return weights(object, by: names)
    }

    private static func weights(_ object: Format<[String: Double]>, by names: String) -> Format {
        let allZero = JSONValue.object(
            ("patternProperties", .object((Schema.comments, true))),
            ("additionalProperties", .object(("const", .integer(0)))))
        var format = object.checked(["not": allZero]) { weights, node throws(InputErrors) in
            let used = weights.filter { $0.value > 0 }
            if used.isEmpty {
                throw node.error("no weight is above 0", remedy: "give at least one of \(names) a weight above 0")
            }
            return ParameterValue.weights(used)
        }.shared()
        format.parse = json
        return format
    }

    private static var fractionSchema: Schema {
        let comment = JSONValue.object(("pattern", .string(Schema.comments)))
        let lineFeed = JSONValue.object(("not", .object(("pattern", "\\n"))))
        let pattern = "^(0(\\.[0-9]{1,6})?|1(\\.0{1,6})?)$"
        return [
            "type": "object", "maxProperties": .integer(weightLimit), "additionalProperties": false,
            "propertyNames": .object(("anyOf", .list(comment, lineFeed))),
        ]
            + .keyword("patternProperties", [[:], weight.schema]) {
                .members(Array(zip([Schema.comments, pattern], $0)))
            }
    }

    /// The canonical spelling of a number from 0 to 1 with at most six decimals; nil for any other text.
    private static func fraction(_ key: String) -> String? {
        let parts = key.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isDecimal =
            parts.count <= 2 && ["0", "1"].contains(String(Substring(parts[0])))
            && parts.dropFirst().allSatisfy { digits in
                (1...6).contains(digits.count) && digits.allSatisfy { (48...57).contains($0) }
            }
        guard isDecimal, let number = Double(key), number <= 1 else { return nil }
        return number.description
    }

    /// `high:1/low:2.5` as an object, or nil.
    @Sendable
    private static func json(_ text: String) -> JSONValue? {
        var (members, keys): ([(String, JSONValue)], Set<Substring>) = ([], [])
        for entry in text.split(separator: "/", omittingEmptySubsequences: false) {
            let parts = entry.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, FigureText.read(String(parts[1])) != nil, keys.insert(parts[0]).inserted else {
                return nil
            }
            members.append((String(parts[0]), .number(String(parts[1]))))
        }
        return .members(members)
    }
}

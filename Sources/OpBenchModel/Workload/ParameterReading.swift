extension ParameterDefinition {
    /// Decodes the values in a file: one value or a list of them, each valid and without duplicates.
    ///
    /// - Parameter names: the names of bodies that the file may have.
    func values(
        from node: JSONNode, _ names: BackendNames = .known
    ) throws(InputErrors) -> [ParameterValue] {
        if case .phases = kind { return [try value(from: node, names)] }
        guard case .array = node.value.content else { return [try value(from: node, names)] }
        guard takesList else {
            throw node.error("\(name) takes one value, not a list", remedy: "write \(allowed)")
        }
        if case .array(let elements) = node.value.content, elements.count > WorkloadSpec.cellLimit {
            throw node.error(
                "the list has \(elements.count) values",
                remedy: "a workload has at most \(WorkloadSpec.cellLimit) cells; shorten the list")
        }
        let mistakes = Mistakes()
        var values: [ParameterValue] = []
        var seen: Set<ParameterValue> = []
        for element in try node.elements("\(allowed), or a list of such values") {
            let read = mistakes.keep { () throws(InputErrors) in try self.value(from: element, names) }
            guard let value = read else { continue }
            if seen.insert(value).inserted {
                values.append(value)
            } else {
                mistakes.note(element.mistake("\(value) appears twice in the list", remedy: "keep one of the two"))
            }
        }
        try mistakes.check()
        return values
    }

    /// Decodes one value and checks it against the parameter's kind and range.
    func value(from node: JSONNode, _ names: BackendNames = .known) throws(InputErrors) -> ParameterValue {
        switch kind {
        case .integer(let range):
            return .integer(try integer(from: node, in: range))
        case .number(let range):
            return .number(try number(from: node, in: range))
        case .choice(let choices):
            return .text(try node.choice(name, among: choices, from: "opbench shapes"))
        case .integerOr(let keyword, let range):
            if case .string(let text) = node.value.content {
                guard text == keyword else {
                    throw node.error("unknown \(name) \(JSONText.excerpt(text))", remedy: "write \(allowed)")
                }
                return .text(text)
            }
            return .integer(try integer(from: node, in: range))
        case .weights(let keys):
            return .weights(try weights(from: node, keys: keys))
        case .phases:
            return .phases(try phases(from: node, names))
        case .recording:
            return .recording(try RecordedLoad(node))
        case .body:
            return try BodyChoice(node, names).value
        }
    }

    private func integer(from node: JSONNode, in range: ClosedRange<Int>) throws(InputErrors) -> Int {
        guard case .number(let number) = node.value.content else { throw node.wrongType(expected: allowed) }
        guard number.isWhole || !number.double.isFinite else {
            throw node.error("\(shortened(number.text)) is not a whole number", remedy: "\(name) is \(allowed)")
        }
        guard let integer = number.integer, range.contains(integer) else {
            throw node.error("\(shortened(number.text)) is out of range", remedy: "\(name) is \(allowed)")
        }
        return integer
    }

    private func number(from node: JSONNode, in range: ClosedRange<Double>) throws(InputErrors) -> Double {
        guard case .number(let number) = node.value.content else { throw node.wrongType(expected: allowed) }
        guard range.contains(number.double) else {
            throw node.error("\(shortened(number.text)) is out of range", remedy: "\(name) is \(allowed)")
        }
        // −0 is 0.
        return number.double + 0
    }

    private func weights(from node: JSONNode, keys: WeightKeys) throws(InputErrors) -> [String: Double] {
        let mistakes = Mistakes()
        var weights: [String: Double] = [:]
        var seen: Set<String> = []
        // Comments count here, as they do in a schema.
        if case .object(let entries) = node.value.content, entries.count > Self.weightCountLimit {
            throw node.error("\(entries.count) weights", remedy: "at most \(Self.weightCountLimit) are allowed")
        }
        for member in try node.members(allowed) {
            let entry = node.child(member)
            guard let key = keys.canonical(member.name) else {
                mistakes.note(
                    entry.mistake(
                        "unknown key \(JSONText.excerpt(member.name))", remedy: remedy(forKey: member.name, among: keys)
                    ))
                continue
            }
            if !seen.insert(key).inserted {
                mistakes.note(entry.mistake("the weight of \(key) is given twice", remedy: "keep one of the two"))
            }
            let weight = mistakes.keep { () throws(InputErrors) in try self.weight(from: entry) }
            if let weight, weight > 0 { weights[key] = weight }
        }
        try mistakes.check()
        if weights.isEmpty {
            throw node.error("no weight is above 0", remedy: "give at least one of \(keys.allowed) a weight above 0")
        }
        return weights
    }

    private func weight(from node: JSONNode) throws(InputErrors) -> Double {
        let range = "a number from 0 to \(Int(Self.weightLimit))"
        guard case .number(let number) = node.value.content else { throw node.wrongType(expected: range) }
        guard (0...Self.weightLimit).contains(number.double) else {
            throw node.error("the weight \(shortened(number.text)) is out of range", remedy: "a weight is \(range)")
        }
        return number.double
    }

    private func remedy(forKey key: String, among keys: WeightKeys) -> String {
        switch keys {
        case .fixed(let names): Suggestion.remedy(for: key, among: names)
        case .number: "a key is \(keys.allowed), with at most six decimals"
        }
    }

    private func shortened(_ number: String) -> String {
        number.count > 40 ? number.prefix(40) + "…" : number
    }
}

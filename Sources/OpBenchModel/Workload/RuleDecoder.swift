/// Reads `skip` and `expect`: a backend, a reason, and under `when` conditions on the parameters of the shape.
struct RuleDecoder {
    static let expectable: [SampleStatus] = [.timeout, .crashed, .invalid]
    /// The most rules of one list: each is held against every cell.
    static let ruleLimit = 100
    /// The greatest magnitude of a number after `below` and `above`.
    static let boundLimit = 1_000_000_000_000_000_000

    let definition: ShapeDefinition
    let names: BackendNames

    func skips(_ node: JSONNode) throws(InputError) -> [SkipRule] {
        var rules: [SkipRule] = []
        for element in try elements(node, "a list of skip rules") {
            let members = try rule(element, known: ["backend", "when", "reason"], required: ["backend", "reason"])
            rules.append(
                SkipRule(
                    backend: try BackendID(checking: members["backend"]!, for: definition.shape, names),
                    conditions: try conditions(members["when"]),
                    reason: try members["reason"]!.sentence("a one-line reason", limit: TextLimits.sentence)))
        }
        return rules
    }

    func expectations(_ node: JSONNode) throws(InputError) -> [Expectation] {
        var rules: [Expectation] = []
        let statuses = Self.expectable.map(\.rawValue)
        for element in try elements(node, "a list of expectations") {
            let members = try rule(
                element, known: ["backend", "when", "status", "reason"], required: ["backend", "status", "reason"])
            rules.append(
                Expectation(
                    backend: try BackendID(checking: members["backend"]!, for: definition.shape, names),
                    conditions: try conditions(members["when"]),
                    status: SampleStatus(rawValue: try members["status"]!.choice("status", among: statuses))!,
                    reason: try members["reason"]!.sentence("a one-line reason", limit: TextLimits.sentence)))
        }
        return rules
    }

    private func elements(_ node: JSONNode, _ what: String) throws(InputError) -> [JSONNode] {
        let elements = try node.elements(what)
        guard elements.count <= Self.ruleLimit else {
            throw node.error("\(elements.count) rules", remedy: "at most \(Self.ruleLimit) are allowed; join some")
        }
        return elements
    }

    private func rule(_ node: JSONNode, known: [String], required: [String]) throws(InputError) -> [String: JSONNode] {
        let members = try node.object("an object", known: known)
        for key in required where members[key] == nil {
            throw node.error(
                "the key \"\(key)\" is missing", remedy: "required are \(required.joined(separator: ", "))")
        }
        return members
    }

    /// No `when` at all means every cell; an empty one is taken for a slip.
    private func conditions(_ node: JSONNode?) throws(InputError) -> [String: ParameterCondition] {
        guard let node else { return [:] }
        let members = try node.object("an object of conditions", known: definition.parameters.map(\.name))
        if members.isEmpty {
            throw node.error("no condition", remedy: "name a parameter, or leave `when` out to mean every cell")
        }
        var conditions: [String: ParameterCondition] = [:]
        for (name, value) in members {
            conditions[name] = try condition(value, on: definition.parameter(named: name)!)
        }
        return conditions
    }

    private func condition(
        _ node: JSONNode, on parameter: ParameterDefinition
    ) throws(InputError) -> ParameterCondition {
        guard case .object = node.value.content else {
            if case .weights = parameter.kind {
                throw node.wrongType(expected: "{\"equals\": …} with \(parameter.allowed)")
            }
            return ParameterCondition(equals: try parameter.value(from: node))
        }
        let known = parameter.isNumeric ? ["equals", "below", "above"] : ["equals"]
        let members = try node.object("a condition", known: known)
        if members.isEmpty { throw node.error("no condition", remedy: "write one of \(known.joined(separator: ", "))") }
        return ParameterCondition(
            equals: try members["equals"].map(parameter.value(from:)),
            below: try members["below"].map(bound), above: try members["above"].map(bound))
    }

    private func bound(_ node: JSONNode) throws(InputError) -> Double {
        guard case .number(let number) = node.value.content else { throw node.wrongType(expected: "a number") }
        guard number.double.magnitude <= Double(Self.boundLimit) else {
            throw node.error("the bound is out of range", remedy: "write a number of at most 10^18")
        }
        return number.double
    }
}

extension ParameterDefinition {
    /// Whether `below` and `above` make sense.
    var isNumeric: Bool {
        switch kind {
        case .integer, .integerOr: true
        case .choice, .weights, .phases: false
        }
    }
}

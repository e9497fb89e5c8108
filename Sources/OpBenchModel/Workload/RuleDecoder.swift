/// Decodes `skip` and `expect`: one backend, several or all; a reason; and, under `when`, conditions on the shape's
/// parameters.
struct RuleDecoder {
    static let expectable: [SampleStatus] = [.timeout, .crashed, .invalid]
    /// The most rules of one list: each is matched against every cell.
    static let ruleLimit = 100
    /// The greatest magnitude of a number after `below` and `above`.
    static let boundLimit = 1_000_000_000_000_000_000

    /// Nil if the file has no valid shape; then conditions are not checked.
    let definition: ShapeDefinition?
    let names: BackendNames

    func skips(_ node: JSONNode) throws(InputErrors) -> [SkipRule] {
        try rules(node, "a list of skip rules", known: ["backend", "when", "reason"]) { parts, _ in
            SkipRule(backends: parts.backends, conditions: parts.conditions, reason: parts.reason)
        }
    }

    func expectations(_ node: JSONNode) throws(InputErrors) -> [Expectation] {
        try rules(node, "a list of expectations", known: ["backend", "when", "status", "reason"]) { parts, status in
            Expectation(
                backends: parts.backends, conditions: parts.conditions, status: status ?? .invalid, reason: parts.reason
            )
        }
    }

    /// The common parts of both kinds of rule.
    private typealias Parts = (backends: RuleBackends, conditions: [String: ParameterCondition], reason: String)

    private func rules<Rule>(
        _ node: JSONNode, _ what: String, known: [String], make: (Parts, SampleStatus?) -> Rule
    ) throws(InputErrors) -> [Rule] {
        let elements = try node.elements(what)
        guard elements.count <= Self.ruleLimit else {
            throw node.error("\(elements.count) rules", remedy: "at most \(Self.ruleLimit) are allowed; join some")
        }
        let mistakes = Mistakes()
        let rules = elements.compactMap { element in
            mistakes.keep { () throws(InputErrors) in try rule(element, known: known, make) }
        }
        try mistakes.check()
        return rules
    }

    private func rule<Rule>(
        _ node: JSONNode, known: [String], _ make: (Parts, SampleStatus?) -> Rule
    ) throws(InputErrors) -> Rule {
        let mistakes = Mistakes()
        let members = try node.object("an object", known: known, required: known.filter { $0 != "when" }, mistakes)
        let backends = mistakes.keep(members["backend"], self.backends)
        let conditions = mistakes.keep(members["when"], self.conditions)
        let status = mistakes.keep(members["status"]) { node throws(InputErrors) in
            SampleStatus(rawValue: try node.choice("status", among: Self.expectable.map(\.rawValue)))!
        }
        let reason = mistakes.keep(members["reason"]) { node throws(InputErrors) in
            try node.sentence("a one-line reason", limit: TextLimits.sentence)
        }
        try mistakes.check()
        // Without `when`, a rule applies to every cell.
        return make((backends!, conditions ?? [:], reason!), status)
    }

    /// Decodes one backend, several, or all.
    private func backends(_ node: JSONNode) throws(InputErrors) -> RuleBackends {
        switch node.value.content {
        case .string(RuleBackends.wildcard): .all
        case .array: .named(try BackendID.list(node, for: definition?.shape, names))
        default: .named([try BackendID(checking: node, for: definition?.shape, names)])
        }
    }

    /// Decodes conditions; an empty object is refused as a probable slip.
    private func conditions(_ node: JSONNode) throws(InputErrors) -> [String: ParameterCondition] {
        guard let definition else { return [:] }
        if try node.members("an object of conditions").isEmpty {
            throw node.error("no condition", remedy: "name a parameter, or omit `when` to match every cell")
        }
        let mistakes = Mistakes()
        let members = try node.object(
            "an object of conditions", known: definition.parameters.map(\.name), from: definition.listing, mistakes)
        var conditions: [String: ParameterCondition] = [:]
        for parameter in definition.parameters {
            conditions[parameter.name] = mistakes.keep(members[parameter.name]) { node throws(InputErrors) in
                try condition(node, on: parameter)
            }
        }
        try mistakes.check()
        return conditions
    }

    private func condition(
        _ node: JSONNode, on parameter: ParameterDefinition
    ) throws(InputErrors) -> ParameterCondition {
        guard case .object = node.value.content else {
            switch parameter.kind {
            case .weights, .recording:
                throw node.wrongType(expected: "{\"equals\": …} with \(parameter.allowed)")
            default: return ParameterCondition(equals: try parameter.value(from: node, names))
            }
        }
        let known = parameter.isNumeric ? ["equals", "below", "above"] : ["equals"]
        if try node.members("a condition").isEmpty {
            throw node.error("no condition", remedy: "write one of \(known.joined(separator: ", "))")
        }
        let mistakes = Mistakes()
        let members = try node.object("a condition", known: known, mistakes)
        let condition = ParameterCondition(
            equals: mistakes.keep(members["equals"]) { node throws(InputErrors) in
                try parameter.value(from: node, names)
            },
            below: mistakes.keep(members["below"], bound), above: mistakes.keep(members["above"], bound))
        try mistakes.check()
        return condition
    }

    private func bound(_ node: JSONNode) throws(InputErrors) -> Double {
        guard case .number(let number) = node.value.content else { throw node.wrongType(expected: "a number") }
        guard number.double.magnitude <= Double(Self.boundLimit) else {
            throw node.error("the bound is out of range", remedy: "write a number of at most 10^18")
        }
        return number.double
    }
}

extension ParameterDefinition {
    /// Whether the parameter can have `below` and `above`.
    var isNumeric: Bool {
        switch kind {
        case .integer, .integerOr, .number: true
        case .choice, .weights, .phases, .recording, .body: false
        }
    }
}

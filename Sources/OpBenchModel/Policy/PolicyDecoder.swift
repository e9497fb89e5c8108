extension GatePolicy {
    /// Reads and checks a policy file.
    ///
    /// - Parameter recorded: backends of the judged rows, which this program need not have.
    /// - Throws: `InputErrors` with the JSON path of everything that the schema does not allow.
    public static func load(file: String, recorded: Set<BackendID> = []) throws(InputErrors) -> GatePolicy {
        let text = try TextFile.readInput(file)
        let others = recorded.subtracting(BackendID.known).sorted { $0.rawValue < $1.rawValue }
        return try PolicyDecoder(backends: (BackendID.known + others).map(\.rawValue)).decode(text: text, file: file)
    }
}

extension GatePolicy {
    /// Like `load(file:)` for a text read before; `file` is the name in errors.
    public static func decode(text: String, file: String) throws(InputErrors) -> GatePolicy {
        try PolicyDecoder().decode(text: text, file: file)
    }

    /// Whether a file is meant as a policy, valid or not, and not as a workload.
    public static func isPolicy(_ text: String) -> Bool {
        guard let root = try? JSONParser.read(text, file: "", Mistakes()), let members = try? root.members("") else {
            return false
        }
        let names = members.map(\.name)
        return names.contains("rules") && !names.contains("shape")
    }
}

/// Decodes the JSON of a policy file into a `GatePolicy`, and checks every key and value.
struct PolicyDecoder {
    /// The names of backends that a rule may use.
    var backends = BackendID.known.map(\.rawValue)

    static let version = 1
    static let schemaPath = "schema/policy.schema.json"
    static let keys = ["$schema", "version", "alpha", "min_blocks", "rules"]
    static let selectorKeys = ["workload", "cell", "backend", "metric", "stat", "phase", "class"]
    /// The keys that bound a rule for two sides, and those that bound a goal.
    static let boundKeys = ["max_regression", "min_absolute", "against", "alpha", "min_blocks"]
    static let goalKeys = ["at_most", "against", "min_blocks"]
    static let maxRegressionRange = 0.0...10
    static let minAbsoluteRange = 0.0...1e18
    static let atMostRange = 0.0...1e18
    /// The largest list of backends whose fastest a goal refers to.
    static let referenceLimit = 20
    static let alphaRange = 1e-9...0.5
    static let minBlocksRange = 1...1000
    /// The most rules, and the longest pattern in scalars: each is matched against every figure.
    static let ruleLimit = GatePolicy.ruleLimit
    static let patternLimit = GatePolicy.patternLimit

    func decode(text: String, file: String) throws(InputErrors) -> GatePolicy {
        let mistakes = Mistakes()
        let root = try JSONParser.read(text, file: file, mistakes)
        guard
            let members = mistakes.keep({ () throws(InputErrors) in
                try root.object(
                    "an object with the keys of a policy", known: Self.keys, required: ["version", "rules"], mistakes)
            })
        else { throw mistakes.gathered! }
        mistakes.keep(members["version"]) { node throws(InputErrors) in
            _ = try node.integer("the version", in: Self.version...Self.version)
        }
        mistakes.keep(members["$schema"]) { node throws(InputErrors) in
            _ = try node.string("the schema's path as a string")
        }
        let alpha = mistakes.keep(members["alpha"]) { node throws(InputErrors) in
            try node.number("alpha", in: Self.alphaRange)
        }
        let minBlocks = mistakes.keep(members["min_blocks"]) { node throws(InputErrors) in
            try node.integer("min_blocks", in: Self.minBlocksRange)
        }
        var policy = GatePolicy(rules: [])
        if let rules = members["rules"] {
            mistakes.keep { () throws(InputErrors) in
                policy = try self.rules(
                    rules, alpha: alpha ?? FigureRule.standardAlpha,
                    minBlocks: minBlocks ?? FigureRule.standardMinBlocks)
            }
        }
        if let node = members["alpha"], alpha != nil, !policy.goals.isEmpty {
            mistakes.note(
                node.mistake(
                    "goals are judged by their intervals, without alpha",
                    remedy: "leave alpha out of a policy with at_most"))
        }
        try mistakes.check()
        return policy
    }

    /// Decodes all rules, each by its own kind; the first one sets the kind of the policy.
    private func rules(
        _ node: JSONNode, alpha: Double, minBlocks: Int
    ) throws(InputErrors) -> GatePolicy {
        let elements = try node.elements("a list of rules")
        guard elements.count <= Self.ruleLimit else {
            throw node.error("\(elements.count) rules", remedy: "at most \(Self.ruleLimit) are allowed")
        }
        let mistakes = Mistakes()
        var (rules, goals): ([GatePolicy.Rule], [GatePolicy.Goal]) = ([], [])
        let kinds = elements.map(Self.boundsOneRun)
        let areGoals = kinds[0] ?? false
        for (element, ofOneRun) in zip(elements, kinds) {
            mistakes.keep { () throws(InputErrors) in
                if ofOneRun ?? areGoals {
                    goals.append(try goal(element, minBlocks: minBlocks))
                } else {
                    rules.append(try rule(element, alpha: alpha, minBlocks: minBlocks))
                }
            }
        }
        // Mixed kinds are reported once, whatever their numbers.
        if let odd = kinds.firstIndex(where: { $0 == !areGoals }) {
            let bound = areGoals ? "at_most" : "max_regression"
            mistakes.note(
                elements[odd].mistake(
                    "the key \"\(bound)\" is missing, which the rules before it have", remedy: Self.kindsRemedy))
        }
        try mistakes.check()
        return areGoals ? GatePolicy(goals: goals) : GatePolicy(rules: rules)
    }

    private static let kindsRemedy =
        "max_regression compares two sides, at_most bounds the figures of one run; keep rules of each kind in a policy of "
        + "their own"

    /// Whether a rule bounds figures of one run, or compares two sides; nil if its keys do not show it.
    private static func boundsOneRun(_ node: JSONNode) -> Bool? {
        guard let names = (try? node.members("a rule"))?.map(\.name) else { return nil }
        return names.contains("max_regression") ? false : names.contains("at_most") ? true : nil
    }

    /// The members of a rule, checked against the keys of its kind.
    private static func keys(
        of node: JSONNode, bound: String, known: [String], _ mistakes: Mistakes
    ) throws(InputErrors) -> [String: JSONNode] {
        let members = try node.object(
            "a rule", known: selectorKeys + boundKeys + goalKeys, from: "opbench schema policy",
            required: ["metric", bound], remedy: "required: metric, and max_regression or at_most", mistakes)
        // Only the first key of the other kind, in file order, is reported.
        let strange = members.filter { !(selectorKeys + known).contains($0.key) }
            .min { ($0.value.value.line, $0.key) < ($1.value.value.line, $1.key) }
        if let (key, child) = strange {
            mistakes.note(child.mistake("\(key) is in a rule with \(bound)", remedy: kindsRemedy))
        }
        return members
    }

    private func rule(
        _ node: JSONNode, alpha: Double, minBlocks: Int
    ) throws(InputErrors) -> GatePolicy.Rule {
        let mistakes = Mistakes()
        let members = try Self.keys(of: node, bound: "max_regression", known: Self.boundKeys, mistakes)
        func number(_ key: String, in range: ClosedRange<Double>) -> Double? {
            mistakes.keep(members[key]) { node throws(InputErrors) in try node.number(key, in: range) }
        }
        var figure = FigureRule(
            maxRegression: number("max_regression", in: Self.maxRegressionRange) ?? 0, alpha: alpha,
            minBlocks: minBlocks)
        figure.minAbsolute = number("min_absolute", in: Self.minAbsoluteRange) ?? 0
        figure.alpha = number("alpha", in: Self.alphaRange) ?? alpha
        figure.minBlocks = blocks(members, mistakes) ?? minBlocks
        let baseline = mistakes.keep(members["against"], self.baseline)
        let selector = mistakes.keep { () throws(InputErrors) in try self.selector(members, metrics: Self.judgedMetrics)
        }
        try mistakes.check()
        return GatePolicy.Rule(selector!, figure, against: baseline)
    }

    private func baseline(_ node: JSONNode) throws(InputErrors) -> String {
        let mistakes = Mistakes()
        let members = try node.object(
            "an object with the key baseline", known: ["baseline"], required: ["baseline"],
            remedy: "name a run that `opbench baseline list` prints", mistakes)
        let name = mistakes.keep(members["baseline"]) { node throws(InputErrors) in
            let name = try node.string("a baseline's name")
            guard RunName.isValid(name) else {
                throw node.error("\(JSONText.excerpt(name)) cannot name a baseline", remedy: RunName.rule)
            }
            return name
        }
        try mistakes.check()
        return name!
    }

    private func goal(_ node: JSONNode, minBlocks: Int) throws(InputErrors) -> GatePolicy.Goal {
        let mistakes = Mistakes()
        let members = try Self.keys(of: node, bound: "at_most", known: Self.goalKeys, mistakes)
        let selector = mistakes.keep { () throws(InputErrors) in
            try self.selector(members, metrics: Self.boundedMetrics)
        }
        let reference = mistakes.keep(members["against"], self.reference)
        let atMost = mistakes.keep(members["at_most"]) { node throws(InputErrors) in
            try node.number("at_most", in: Self.atMostRange)
        }
        let blocks = blocks(members, mistakes)
        try mistakes.check()
        return GatePolicy.Goal(selector!, against: reference, atMost: atMost!, minBlocks: blocks ?? minBlocks)
    }

    private func blocks(_ members: [String: JSONNode], _ mistakes: Mistakes) -> Int? {
        mistakes.keep(members["min_blocks"]) { node throws(InputErrors) in
            try node.integer("min_blocks", in: Self.minBlocksRange)
        }
    }

    /// - Parameter members: a rule without a metric is refused.
    private func selector(
        _ members: [String: JSONNode], metrics: [String]
    ) throws(InputErrors) -> GatePolicy.Selector {
        let mistakes = Mistakes()
        func pattern(_ key: String, among known: [String]? = nil, note: String? = nil) -> String {
            mistakes.keep(members[key]) { node throws(InputErrors) in
                try node.pattern(among: known, note: note)
            } ?? "*"
        }
        var selector = GatePolicy.Selector()
        selector.metric = pattern("metric", among: metrics)
        selector.workload = pattern("workload")
        selector.cell = pattern("cell")
        selector.backend = pattern(
            "backend", among: [GatePolicy.Selector.own] + backends, note: BackendDefinition.declaredElsewhere)
        selector.stat = pattern("stat")
        selector.phase = pattern("phase")
        selector.operationClass = pattern("class")
        try mistakes.check()
        return selector
    }

    /// Decodes a backend, a list of backends of which the fastest counts, or another cell.
    private func reference(_ node: JSONNode) throws(InputErrors) -> GatePolicy.Goal.Reference {
        switch node.value.content {
        case .string: return .fastest([try backend(node)])
        case .array:
            let elements = try node.elements("a list of backends")
            guard elements.count <= Self.referenceLimit else {
                throw node.error("\(elements.count) backends", remedy: "at most \(Self.referenceLimit) are allowed")
            }
            let mistakes = Mistakes()
            var listed: [BackendID] = []
            for element in elements {
                guard let backend = mistakes.keep({ () throws(InputErrors) in try self.backend(element) }) else {
                    continue
                }
                if listed.contains(backend) {
                    mistakes.note(
                        element.mistake(
                            "\(backend.rawValue) appears twice in the list", remedy: "keep one of the two"))
                }
                listed.append(backend)
            }
            try mistakes.check()
            return .fastest(listed)
        case .object:
            let mistakes = Mistakes()
            let members = try node.object(
                "an object with the key cell", known: ["cell"], required: ["cell"],
                remedy: "name the other cell by its cell_id", mistakes)
            let cell = mistakes.keep(members["cell"]) { node throws(InputErrors) in try node.cellID() }
            try mistakes.check()
            return .cell(cell!)
        default: throw node.wrongType(expected: "a backend, a list of backends, or {\"cell\": …}")
        }
    }

    private func backend(_ node: JSONNode) throws(InputErrors) -> BackendID {
        BackendID(
            rawValue: try node.choice(
                "backend", among: backends, from: BackendDefinition.listing, note: BackendDefinition.declaredElsewhere))
    }

    /// The metrics with a direction, and the ratios that comparisons add.
    static var judgedMetrics: [String] {
        BaselineRatio.names + Metric.catalogue.filter { $0.direction != .neutral }.map(\.name)
    }

    /// The metrics of which lower is better: an upper bound on any other would require nothing.
    static var boundedMetrics: [String] {
        BaselineRatio.names + Metric.catalogue.filter { $0.direction == .lower }.map(\.name)
    }
}

extension JSONNode {
    /// A name with `*` for any text; if the names are known, one that matches at least one of them.
    fileprivate func pattern(among known: [String]? = nil, note: String? = nil) throws(InputErrors) -> String {
        let text = try string("a name, in which * matches any text")
        guard text.unicodeScalars.count <= PolicyDecoder.patternLimit else {
            throw error("the name is too long", remedy: "write at most \(PolicyDecoder.patternLimit) characters")
        }
        guard let known, !known.contains(where: { Glob.matches(text, $0) }) else { return text }
        throw error(
            "\(JSONText.excerpt(text)) matches nothing known",
            remedy: Suggestion.remedy(for: text, among: known, from: "opbench explain-columns")
                + (note.map { "; \($0)" } ?? ""))
    }

    /// The id of one cell, as in samples.csv.
    fileprivate func cellID() throws(InputErrors) -> String {
        let text = try string("a cell_id")
        guard (1...PolicyDecoder.patternLimit).contains(text.unicodeScalars.count) else {
            throw error(
                "the cell_id is empty or too long",
                remedy: "write 1 to \(PolicyDecoder.patternLimit) characters, as samples.csv has them")
        }
        return text
    }

    fileprivate func number(_ what: String, in range: ClosedRange<Double>) throws(InputErrors) -> Double {
        guard case .number(let number) = value.content else { throw wrongType(expected: "a number") }
        guard range.contains(number.double) else {
            throw error(
                "\(what) is out of range",
                remedy:
                    "write a number from \(FigureText.write(range.lowerBound)) to \(FigureText.write(range.upperBound))"
            )
        }
        return number.double
    }

    fileprivate func integer(_ what: String, in range: ClosedRange<Int>) throws(InputErrors) -> Int {
        guard case .number(let number) = value.content else { throw wrongType(expected: "a whole number") }
        guard number.isWhole, let integer = number.integer, range.contains(integer) else {
            throw error(
                "\(what) is out of range",
                remedy: range.count == 1
                    ? "write \(range.lowerBound)"
                    : "write a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }
}

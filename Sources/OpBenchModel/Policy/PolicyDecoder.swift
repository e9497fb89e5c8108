extension GatePolicy {
    /// Reads and checks a policy file.
    ///
    /// - Parameter recorded: backends of the rows that are judged, which this program need not have.
    /// - Throws: `InputError` naming the JSON path, for anything that is not exactly what the schema allows.
    public static func load(file: String, recorded: Set<BackendID> = []) throws(InputError) -> GatePolicy {
        let text = try TextFile.read(file)
        let others = recorded.subtracting(BackendID.known).sorted { $0.rawValue < $1.rawValue }
        return try PolicyDecoder(backends: (BackendID.known + others).map(\.rawValue)).decode(text: text, file: file)
    }
}

/// Turns the JSON of a policy file into a `GatePolicy`, checking every key and value on the way.
struct PolicyDecoder {
    /// The names of backends that a rule may have.
    var backends = BackendID.known.map(\.rawValue)

    /// Bounds on times are in seconds in version 1, from 2 on in nanoseconds, as rows are.
    static let versions = 1...2
    static let schemaPath = "schema/policy.schema.json"
    static let keys = ["$schema", "version", "alpha", "min_blocks", "rules"]
    static let selectorKeys = ["workload", "cell", "backend", "metric", "stat", "phase", "class"]
    /// What a rule for two sides may bound, and what a goal may.
    static let boundKeys = ["max_regression", "min_absolute", "alpha", "min_blocks"]
    static let goalKeys = ["at_most", "against", "min_blocks"]
    static let maxRegressionRange = 0.0...10
    static let minAbsoluteRange = 0.0...1e18
    static let atMostRange = 0.0...1e18
    /// The most backends of which a goal takes the fastest.
    static let referenceLimit = 20
    static let alphaRange = 1e-9...0.5
    static let minBlocksRange = 1...1000
    /// The most rules, and the longest pattern in scalars: each is held against every figure.
    static let ruleLimit = 100
    static let patternLimit = 200

    func decode(text: String, file: String) throws(InputError) -> GatePolicy {
        let root = try JSONParser.parse(text, file: file)
        let members = try root.object("an object with the keys of a policy", known: Self.keys)
        for key in ["version", "rules"] where members[key] == nil {
            throw root.error("the key \"\(key)\" is missing", remedy: "required are version, rules")
        }
        let version = try members["version"]!.integer("the version", in: Self.versions)
        let timeUnit: GatePolicy.TimeUnit = version == 1 ? .seconds : .nanoseconds
        if let schema = members["$schema"] { _ = try schema.string("the schema's path as a string") }
        let alpha = try members["alpha"]?.number("alpha", in: Self.alphaRange) ?? FigureRule.standardAlpha
        let minBlocks =
            try members["min_blocks"]?.integer("min_blocks", in: Self.minBlocksRange) ?? FigureRule.standardMinBlocks
        let elements = try members["rules"]!.elements("a list of rules")
        guard elements.count <= Self.ruleLimit else {
            throw members["rules"]!.error("\(elements.count) rules", remedy: "at most \(Self.ruleLimit) are allowed")
        }
        guard try Self.isGoal(elements[0]) else {
            return GatePolicy(
                rules: try elements.map { element throws(InputError) in
                    var rule = try rule(element, alpha: alpha, minBlocks: minBlocks)
                    rule.timeUnit = timeUnit
                    return rule
                })
        }
        if let node = members["alpha"] {
            throw node.error(
                "goals are judged by their intervals, without alpha", remedy: "leave alpha out of a policy with at_most"
            )
        }
        return GatePolicy(
            goals: try elements.map { element throws(InputError) in
                var goal = try goal(element, minBlocks: minBlocks)
                goal.timeUnit = timeUnit
                return goal
            })
    }

    /// Whether a rule bounds figures of one run; else it compares two sides.
    private static func isGoal(_ node: JSONNode) throws(InputError) -> Bool {
        let members = try node.object("a rule", known: selectorKeys + boundKeys + goalKeys)
        return members["at_most"] != nil && members["max_regression"] == nil
    }

    /// The keys of a rule, which are those of its kind.
    private static func keys(
        of node: JSONNode, bound: String, known: [String]
    ) throws(InputError) -> [String: JSONNode] {
        let members = try node.object("a rule", known: selectorKeys + boundKeys + goalKeys)
        for key in ["metric", bound] where members[key] == nil {
            throw node.error(
                "the key \"\(key)\" is missing", remedy: "required are metric, and max_regression or at_most")
        }
        // The first in the order of the file.
        let ordered = members.sorted { ($0.value.value.line, $0.key) < ($1.value.value.line, $1.key) }
        for (key, child) in ordered where !(selectorKeys + known).contains(key) {
            throw child.error(
                "\(key) stands in a rule with \(bound)",
                remedy: "max_regression compares two sides, at_most bounds the figures of one run; "
                    + "keep rules of each kind in a policy of their own")
        }
        return members
    }

    private func rule(
        _ node: JSONNode, alpha: Double, minBlocks: Int
    ) throws(InputError) -> GatePolicy.Rule {
        let members = try Self.keys(of: node, bound: "max_regression", known: Self.boundKeys)
        var figure = FigureRule(
            maxRegression: try members["max_regression"]!.number("max_regression", in: Self.maxRegressionRange),
            alpha: alpha, minBlocks: minBlocks)
        if let node = members["min_absolute"] {
            figure.minAbsolute = try node.number("min_absolute", in: Self.minAbsoluteRange)
        }
        if let node = members["alpha"] { figure.alpha = try node.number("alpha", in: Self.alphaRange) }
        if let node = members["min_blocks"] {
            figure.minBlocks = try node.integer("min_blocks", in: Self.minBlocksRange)
        }
        return GatePolicy.Rule(try selector(members, metrics: Self.judgedMetrics), figure)
    }

    private func goal(_ node: JSONNode, minBlocks: Int) throws(InputError) -> GatePolicy.Goal {
        let members = try Self.keys(of: node, bound: "at_most", known: Self.goalKeys)
        return GatePolicy.Goal(
            try selector(members, metrics: Self.boundedMetrics),
            against: try members["against"].map(reference),
            atMost: try members["at_most"]!.number("at_most", in: Self.atMostRange),
            minBlocks: try members["min_blocks"]?.integer("min_blocks", in: Self.minBlocksRange) ?? minBlocks)
    }

    private func selector(
        _ members: [String: JSONNode], metrics: [String]
    ) throws(InputError) -> GatePolicy.Selector {
        var selector = GatePolicy.Selector()
        selector.metric = try members["metric"]!.pattern(among: metrics)
        selector.workload = try members["workload"]?.pattern() ?? selector.workload
        selector.cell = try members["cell"]?.pattern() ?? selector.cell
        selector.backend = try members["backend"]?.pattern(among: backends) ?? selector.backend
        selector.stat = try members["stat"]?.pattern() ?? selector.stat
        selector.phase = try members["phase"]?.pattern() ?? selector.phase
        selector.operationClass = try members["class"]?.pattern() ?? selector.operationClass
        return selector
    }

    /// A backend, several of which the fastest counts, or another cell.
    private func reference(_ node: JSONNode) throws(InputError) -> GatePolicy.Goal.Reference {
        switch node.value.content {
        case .string: return .fastest([try backend(node)])
        case .array:
            let elements = try node.elements("a list of backends")
            guard elements.count <= Self.referenceLimit else {
                throw node.error("\(elements.count) backends", remedy: "at most \(Self.referenceLimit) are allowed")
            }
            var listed: [BackendID] = []
            for element in elements {
                let backend = try backend(element)
                if listed.contains(backend) {
                    throw element.error("\(backend.rawValue) appears twice in the list", remedy: "keep one of the two")
                }
                listed.append(backend)
            }
            return .fastest(listed)
        case .object:
            let members = try node.object("an object with the key cell", known: ["cell"])
            guard let cell = members["cell"] else {
                throw node.error("the key \"cell\" is missing", remedy: "name the other cell by its cell_id")
            }
            return .cell(try cell.cellID())
        default: throw node.wrongType(expected: "a backend, a list of backends, or {\"cell\": …}")
        }
    }

    private func backend(_ node: JSONNode) throws(InputError) -> BackendID {
        BackendID(rawValue: try node.choice("backend", among: backends))
    }

    /// The metrics that can be better or worse, and the ratio of times that comparisons add.
    static var judgedMetrics: [String] {
        ["time_ratio"] + Metric.catalogue.filter { $0.direction != .neutral }.map(\.name)
    }

    /// Those of which less is better: a bound on how great another may be asks for nothing.
    static var boundedMetrics: [String] {
        ["time_ratio"] + Metric.catalogue.filter { $0.direction == .lower }.map(\.name)
    }
}

extension JSONNode {
    /// A name with `*` for any text; where the names are known, one that matches at least one of them.
    fileprivate func pattern(among known: [String]? = nil) throws(InputError) -> String {
        let text = try string("a name, in which * stands for any text")
        guard text.unicodeScalars.count <= PolicyDecoder.patternLimit else {
            throw error("the name is too long", remedy: "write at most \(PolicyDecoder.patternLimit) characters")
        }
        guard let known, !known.contains(where: { Glob.matches(text, $0) }) else { return text }
        throw error(
            "\(JSONText.excerpt(text)) matches nothing known", remedy: Suggestion.remedy(for: text, among: known))
    }

    /// One cell, as samples.csv names it.
    fileprivate func cellID() throws(InputError) -> String {
        let text = try string("a cell_id")
        guard (1...PolicyDecoder.patternLimit).contains(text.unicodeScalars.count) else {
            throw error(
                "the cell_id is empty or too long",
                remedy: "write 1 to \(PolicyDecoder.patternLimit) characters, as samples.csv has them")
        }
        return text
    }

    fileprivate func number(_ what: String, in range: ClosedRange<Double>) throws(InputError) -> Double {
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

    fileprivate func integer(_ what: String, in range: ClosedRange<Int>) throws(InputError) -> Int {
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

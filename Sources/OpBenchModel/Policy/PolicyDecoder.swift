extension GatePolicy {
    /// Reads and checks a policy file.
    ///
    /// - Throws: `InputError` naming the JSON path, for anything that is not exactly what the schema allows.
    public static func load(file: String) throws(InputError) -> GatePolicy {
        try PolicyDecoder.decode(text: try TextFile.read(file), file: file)
    }
}

/// Turns the JSON of a policy file into a `GatePolicy`, checking every key and value on the way.
enum PolicyDecoder {
    static let version = 1
    static let schemaPath = "schema/policy.schema.json"
    static let keys = ["$schema", "version", "alpha", "min_blocks", "rules"]
    static let selectorKeys = ["workload", "backend", "metric", "stat", "phase", "class"]
    static let boundKeys = ["max_regression", "min_absolute", "alpha", "min_blocks"]
    static let maxRegressionRange = 0.0...10
    static let minAbsoluteRange = 0.0...1e18
    static let alphaRange = 1e-9...0.5
    static let minBlocksRange = 1...1000
    /// The most rules, and the longest pattern in scalars: each is held against every figure.
    static let ruleLimit = 100
    static let patternLimit = 200

    static func decode(text: String, file: String) throws(InputError) -> GatePolicy {
        let root = try JSONParser.parse(text, file: file)
        let members = try root.object("an object with the keys of a policy", known: keys)
        for key in ["version", "rules"] where members[key] == nil {
            throw root.error("the key \"\(key)\" is missing", remedy: "required are version, rules")
        }
        _ = try members["version"]!.integer("the version", in: version...version)
        if let schema = members["$schema"] { _ = try schema.string("the schema's path as a string") }
        let alpha = try members["alpha"]?.number("alpha", in: alphaRange) ?? FigureRule.standardAlpha
        let minBlocks =
            try members["min_blocks"]?.integer("min_blocks", in: minBlocksRange) ?? FigureRule.standardMinBlocks
        var rules: [GatePolicy.Rule] = []
        let elements = try members["rules"]!.elements("a list of rules")
        guard elements.count <= ruleLimit else {
            throw members["rules"]!.error("\(elements.count) rules", remedy: "at most \(ruleLimit) are allowed")
        }
        for element in elements {
            rules.append(try rule(element, alpha: alpha, minBlocks: minBlocks))
        }
        return GatePolicy(rules: rules)
    }

    private static func rule(
        _ node: JSONNode, alpha: Double, minBlocks: Int
    ) throws(InputError) -> GatePolicy.Rule {
        let members = try node.object("a rule", known: selectorKeys + boundKeys)
        for key in ["metric", "max_regression"] where members[key] == nil {
            throw node.error("the key \"\(key)\" is missing", remedy: "required are metric, max_regression")
        }
        var selector = GatePolicy.Selector()
        selector.metric = try metric(members["metric"]!)
        selector.workload = try members["workload"]?.pattern() ?? selector.workload
        selector.backend = try members["backend"]?.pattern(among: BackendID.known.map(\.rawValue)) ?? selector.backend
        selector.stat = try members["stat"]?.pattern() ?? selector.stat
        selector.phase = try members["phase"]?.pattern() ?? selector.phase
        selector.operationClass = try members["class"]?.pattern() ?? selector.operationClass
        var figure = FigureRule(
            maxRegression: try members["max_regression"]!.number("max_regression", in: maxRegressionRange),
            alpha: alpha, minBlocks: minBlocks)
        if let node = members["min_absolute"] {
            figure.minAbsolute = try node.number("min_absolute", in: minAbsoluteRange)
        }
        if let node = members["alpha"] { figure.alpha = try node.number("alpha", in: alphaRange) }
        if let node = members["min_blocks"] {
            figure.minBlocks = try node.integer("min_blocks", in: minBlocksRange)
        }
        return GatePolicy.Rule(selector, figure)
    }

    /// The metrics that can be better or worse, and the ratio of times that comparisons add.
    static var judgedMetrics: [String] {
        ["time_ratio"] + Metric.catalogue.filter { $0.direction != .neutral }.map(\.name)
    }

    private static func metric(_ node: JSONNode) throws(InputError) -> String {
        try node.pattern(among: judgedMetrics)
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

/// A policy file: its fields, and the figures that they default to.
struct PolicyFile: Sendable {
    private var alpha = FigureRule.standardAlpha
    private var minBlocks = FigureRule.standardMinBlocks
    private var policy = GatePolicy(rules: [])

    static let version = 1

    /// - Parameters:
    ///   - backends: those that a rule may name.
    ///   - areGoals: whether the rules bound the figures of one run.
    static func format(
        backends: [String] = BackendID.known.map(\.rawValue), areGoals: Bool = false
    ) -> Format<GatePolicy> {
        let formats = PolicyFormats(backends: backends, areGoals: areGoals)
        return Format.object(
            "an object with the keys of a policy", PolicyFile(),
            [
                Field("$schema", .text("the schema's path as a string"), "The path of this schema, for editors.") {
                    _, _ in
                },
                Field("version", .integer(version...version), "The version of this format.", isRequired: true) {
                    _, _ in
                },
                areGoals
                    ? Field(
                        "alpha", misplaced: "for rules with max_regression: goals are judged by their intervals",
                        remedy: "leave alpha out of a policy with at_most")
                    : PolicyFormats.alpha { $0.alpha = $1 },
                PolicyFormats.minBlocks { $0.minBlocks = $1 },
                Field(
                    "rules", of: { formats.rules(alpha: $0.alpha, minBlocks: $0.minBlocks) },
                    "The first rule with max_regression that matches a figure judges it; figures that none matches are "
                        + "not judged. Each rule with at_most judges every figure that it matches. A policy has rules "
                        + "of one of these kinds.", isRequired: true, keep: { $0.policy.rules = $1 }),
            ]
        ).map(\.policy)
    }
}

extension GatePolicy {
    /// Reads and checks a policy file.
    ///
    /// - Parameter recorded: backends of the judged rows, which this program need not have.
    /// - Throws: `InputErrors` with the JSON path of everything that the schema does not allow.
    public static func load(file: String, recorded: Set<BackendID> = []) throws(InputErrors) -> GatePolicy {
        let others = recorded.subtracting(BackendID.known).sorted { $0.rawValue < $1.rawValue }
        return try decode(text: try TextFile.readInput(file), file: file, backends: BackendID.known + others)
    }

    /// Like `load(file:)` for a text read before; `file` is the name in errors.
    public static func decode(
        text: String, file: String, backends: [BackendID] = BackendID.known
    ) throws(InputErrors) -> GatePolicy {
        try Format.decode(text: text, file: file) { root in
            // The first rule sets the kind of the policy.
            let first = try? root["rules"]?.elements("").first
            return PolicyFile.format(
                backends: backends.map(\.rawValue), areGoals: first.flatMap(PolicyFormats.isGoal) ?? false)
        }
    }

    /// Whether a file is meant as a policy, valid or not, and not as a workload.
    public static func isPolicy(_ text: String) -> Bool {
        guard let root = try? JSONParser.read(text, file: "", Mistakes()) else { return false }
        return root["rules"] != nil && root["shape"] == nil
    }

    /// The schema of policy files as text, ending in a line feed: the content of `workloads/schema/policy.schema.json`.
    public static func schema() -> String {
        PolicyFile.format().schema.document(
            title: "An opbench gate policy",
            "Which figures may get worse, by how much, and with what certainty that is reported; or how great they may be."
        )
    }
}

/// The formats of a policy's rules: those that compare two sides, and goals.
private struct PolicyFormats: Sendable {
    let backends: [String]
    let areGoals: Bool

    /// Whether a rule is a goal; nil if its keys do not show it.
    static func isGoal(_ node: JSONNode) -> Bool? {
        node["max_regression"] != nil ? false : node["at_most"] != nil ? true : nil
    }

    static func alpha<Root>(_ keep: @escaping @Sendable (inout Root, Double) -> Void) -> Field<Root> {
        Field(
            "alpha", .number(1e-9...0.5),
            "The accepted probability of a false alarm, over all figures together, and of passing a figure that is "
                + "worse by exactly the margin.", keep: keep)
    }

    static func minBlocks<Root>(_ keep: @escaping @Sendable (inout Root, Int) -> Void) -> Field<Root> {
        Field(
            "min_blocks", .integer(1...1000),
            "The number of blocks that a regression, or a missed goal, needs at least.", keep: keep)
    }

    private static let remedy =
        "max_regression compares two sides, at_most bounds the figures of one run; keep rules of each kind in a policy of "
        + "their own"

    /// Each rule is read by its own kind; one of another kind than the policy's is a mistake, reported once.
    func rules(alpha: Double, minBlocks: Int) -> Format<[GatePolicy.Rule]> {
        let (rule, goal) = (rule(alpha: alpha, minBlocks: minBlocks), goal(minBlocks: minBlocks))
        let lists = [rule, goal].map { $0.list("a list of rules", atMost: GatePolicy.ruleLimit) }
        let list = Format("a rule", schema: [:]) { node throws(InputErrors) in
            try (Self.isGoal(node) ?? areGoals ? goal : rule).read(node)
        }.list("a list of rules", atMost: GatePolicy.ruleLimit)
        return Format("a list of rules", schema: .anyOf(lists[0].schema, lists[1].schema)) { node throws(InputErrors) in
            let mistakes = Mistakes()
            let rules = mistakes.keep { () throws(InputErrors) in try list.read(node) }
            if let odd = try? node.elements("").first(where: { Self.isGoal($0) == !areGoals }) {
                let bound = areGoals ? "at_most" : "max_regression"
                mistakes.note(
                    odd.mistake(
                        "the key \"\(bound)\" is missing, which the rules before it have", remedy: Self.remedy))
            }
            try mistakes.check()
            return rules!
        }
    }

    /// A rule, whose required keys are the metric and its bound.
    private func object(
        _ figure: FigureRule, _ selectors: [Field<GatePolicy.Selector>], _ bounds: [Field<GatePolicy.Rule>],
        but strange: [String]
    ) -> Format<GatePolicy.Rule> {
        let bound = bounds.first(where: \.isRequired)?.name ?? ""
        return .object(
            "a rule", GatePolicy.Rule(GatePolicy.Selector(), figure),
            selectors.map { $0.inside(\.selector) } + bounds
                + strange.map { Field($0, misplaced: "in a rule with \(bound)", remedy: Self.remedy) },
            from: "opbench describe policy-schema", remedy: "required: metric, and max_regression or at_most")
    }

    private func rule(alpha: Double, minBlocks: Int) -> Format<GatePolicy.Rule> {
        let slacks = Metric.catalogue.compactMap { metric -> String? in
            switch metric.slack {
            case .absolute(let count): "\(FigureText.write(count)) (\(metric.name))"
            case .relative(let part): "\(FigureText.write(part * 100)) % (\(metric.name))"
            case nil: nil
            }
        }
        let bounds: [Field<GatePolicy.Rule>] = [
            Field(
                "max_regression", .number(0...10), "The greatest relative worsening that passes: 0.05 is 5 %.",
                isRequired: true
            ) { $0.figure.maxRegression = $1 },
            Field(
                "min_absolute", .number(0...1e18),
                "A worsening below this, in the metric's unit per operation or round (nanoseconds for times), is no "
                    + "regression. The counts of a round may always differ by \(slacks.joined(separator: ", "))."
            ) { $0.figure.minAbsolute = $1 },
            Field(
                "against", Self.baseline,
                "A baseline to compare with in place of the other side, which bounds the figure's drift since then. "
                    + "Ratios to Dispatch and counts can be judged; other figures of runs at different times stay "
                    + "inconclusive."
            ) { $0.against = .baseline($1) },
            Self.alpha { $0.figure.alpha = $1 }, Self.minBlocks { $0.figure.minBlocks = $1 },
        ]
        return object(
            FigureRule(maxRegression: 0, alpha: alpha, minBlocks: minBlocks), selectors(GatePolicy.judgedMetrics),
            bounds, but: ["at_most"])
    }

    private func goal(minBlocks: Int) -> Format<GatePolicy.Rule> {
        let bounds: [Field<GatePolicy.Rule>] = [
            Field(
                "at_most", .number(0...1e18),
                "The greatest ratio to the figure of `against` that meets the goal; without `against`, the greatest "
                    + "figure, in the metric's unit per operation or round (nanoseconds for times).", isRequired: true
            ) { $0.figure.atMost = $1 },
            Field(
                "against", reference,
                "The denominator of the ratio, within the run: a backend, the fastest of several on the same cell, or "
                    + "the same backend on another cell."
            ) { $0.against = $1 },
            Self.minBlocks { $0.figure.minBlocks = $1 },
        ]
        return object(
            FigureRule(atMost: 0, minBlocks: minBlocks), selectors(GatePolicy.boundedMetrics), bounds,
            but: ["max_regression", "min_absolute", "alpha"])
    }

    // MARK: Parts of rules

    private func selectors(_ metrics: [String]) -> [Field<GatePolicy.Selector>] {
        func pattern(among known: [String]? = nil, note: String = "") -> Format<String> {
            .text("a name, in which * matches any text", 0...GatePolicy.patternLimit).checked {
                text, node throws(InputErrors) in
                guard let known, !known.contains(where: { Glob.matches(text, $0) }) else { return text }
                throw node.error(
                    "\(JSONText.excerpt(text)) matches nothing known",
                    remedy: Suggestion.remedy(for: text, among: known, from: BackendDefinition.listing) + note)
            }
        }
        func field(
            _ name: String, _ what: String, _ format: Format<String> = pattern(), isRequired: Bool = false,
            _ keep: @escaping @Sendable (inout GatePolicy.Selector, String) -> Void
        ) -> Field<GatePolicy.Selector> {
            Field(name, format, "\(what), in which * matches any text.", isRequired: isRequired, keep: keep)
        }
        let own = "A backend, or `own` for the engine and the backends that a program declares; or a name"
        let ratios = "A metric of samples.csv, or one of \(BaselineRatio.names.joined(separator: ", "))"
        return [
            field("workload", "A workload's name") { $0.workload = $1 },
            field("cell", "A cell_id") { $0.cell = $1 },
            field(
                "backend", own,
                pattern(
                    among: [GatePolicy.Selector.own] + backends, note: "; " + BackendDefinition.declaredElsewhere)
            ) { $0.backend = $1 },
            field("metric", ratios, pattern(among: metrics), isRequired: true) { $0.metric = $1 },
            field("stat", "A stat") { $0.stat = $1 }, field("phase", "A phase") { $0.phase = $1 },
            field("class", "A class") { $0.operationClass = $1 },
        ]
    }

    private static var baseline: Format<String> {
        let name = Format.text("a baseline's name").checked(RunName.schema) { name, node throws(InputErrors) in
            guard RunName.isValid(name) else {
                throw node.error("\(JSONText.excerpt(name)) cannot name a baseline", remedy: RunName.rule)
            }
            return name
        }
        return .object(
            of: "baseline", name, "The baseline's name, of `opbench baseline --name`.",
            remedy: "name a baseline that `opbench runs` prints")
    }

    /// A backend, several of which the fastest counts, or another cell.
    private var reference: Format<GatePolicy.Rule.Reference> {
        let backend = Format.choice(
            backends, "backend", from: BackendDefinition.listing, note: BackendDefinition.declaredElsewhere)
        let cell = Format.object(
            of: "cell", .text("a cell_id", 1...GatePolicy.patternLimit),
            "The cell_id of the other cell, as in samples.csv.", remedy: "name the other cell by its cell_id")
        return .either(
            "a backend, a list of backends, or {\"cell\": …}",
            text: backend.map { .fastest([BackendID(rawValue: $0)]) },
            list: backend.list("a list of backends", atMost: GatePolicy.referenceLimit) { $0 }
                .map { .fastest($0.map { BackendID(rawValue: $0) }) }, object: cell.map { .cell($0) })
    }
}

extension GatePolicy {
    /// The most backends of which a goal refers to the fastest.
    fileprivate static let referenceLimit = 20

    /// The metrics with a direction, and the ratios that comparisons add.
    static var judgedMetrics: [String] {
        BaselineRatio.names + Metric.catalogue.filter { $0.direction != .neutral }.map(\.name)
    }

    /// The metrics of which lower is better: an upper bound on any other would require nothing.
    static var boundedMetrics: [String] {
        BaselineRatio.names + Metric.catalogue.filter { $0.direction == .lower }.map(\.name)
    }
}

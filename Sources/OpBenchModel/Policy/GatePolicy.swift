/// The rules of a gate: which figures may get worse, by how much, and with what certainty a "worse" is reported; or
/// upper bounds on figures.
///
/// Read from a versioned JSON file; without one, `standard` applies. Thread-safe as a value.
public struct GatePolicy: Sendable, Hashable {
    /// The figures that a rule selects. Each field is a name in which `*` matches any text; empty text matches figures
    /// without a phase or class.
    public struct Selector: Sendable, Hashable {
        public var workload = "*"
        /// A whole cell id, which begins with the workload's name.
        public var cell = "*"
        /// A pattern, or `own`.
        public var backend = "*"
        public var metric = "*"
        public var stat = "*"
        public var phase = "*"
        public var operationClass = "*"

        /// The backends that a program is about: see `BackendID.isOwn`.
        public static let own = "own"

        public init() {}

        public func matches(_ figure: FigureName) -> Bool {
            Glob.matches(workload, String(figure.cellID.prefix { $0 != " " })) && Glob.matches(cell, figure.cellID)
                && matches(figure.backend) && Glob.matches(metric, figure.metric)
                && Glob.matches(stat, figure.stat) && Glob.matches(phase, figure.phase)
                && Glob.matches(operationClass, figure.operationClass)
        }

        func matches(_ name: BackendID) -> Bool {
            backend == Self.own ? name.isOwn : Glob.matches(backend, name.rawValue)
        }
    }

    public struct Rule: Sendable, Hashable {
        /// The figures that a rule compares with, if not with those of the other side.
        public enum Reference: Sendable, Hashable {
            /// The same figure of a kept run: the rule bounds the drift since then.
            case baseline(String)
            /// For a goal, the least of the same figure among these backends, on the same cell, in the same block.
            case fastest([BackendID])
            /// For a goal, the same figure of the same backend on another cell.
            case cell(String)

            /// As printed and as in `compare.csv`.
            public var text: String {
                switch self {
                case .baseline(let name): name
                case .fastest(let backends): backends.map(\.rawValue).joined(separator: " or ")
                case .cell(let id): id
                }
            }
        }

        public var selector: Selector
        public var figure: FigureRule
        /// Nil for the other side, and for a goal that bounds the figure itself.
        public var against: Reference?

        public init(_ selector: Selector, _ figure: FigureRule, against: Reference? = nil) {
            self.selector = selector
            self.figure = figure
            self.against = against
        }

        func matches(_ row: CompareRow) -> Bool {
            (against?.text ?? "") == row.against && selector.matches(row.figure)
        }
    }

    /// Rules that compare two sides, or goals: not both.
    public var rules: [Rule]

    public init(rules: [Rule]) { self.rules = rules }

    /// Whether the rules are goals, which bound the figures of one run.
    public var isOfGoals: Bool { rules.contains { $0.figure.atMost != nil } }

    /// The first rule that matches the figure; nil if none does, which leaves the figure unjudged.
    public func rule(for row: CompareRow) -> FigureRule? { rules.first { $0.matches(row) }?.figure }

    /// The rows that a rule judges: of goals, all.
    public func asked(among rows: [CompareRow]) -> [CompareRow] {
        isOfGoals ? rows : rows.filter { rule(for: $0) != nil }
    }

    /// The baselines that rules bound drift against, in their order.
    public var baselines: [String] {
        rules.reduce(into: []) { names, rule in
            if case .baseline(let name) = rule.against, !names.contains(name) { names.append(name) }
        }
    }

    /// The number of comparisons that a gate makes, over which alpha is divided: with the other side, and with each
    /// baseline.
    public var comparisons: Int { 1 + baselines.count }

    /// The rules that match none of these figures, probably by mistake. A rule for all workloads may name a metric that
    /// these figures do not have. A goal without a figure is a row.
    public func unusedRules(among rows: [CompareRow]) -> [Int] {
        if isOfGoals { return [] }
        return rules.indices.filter { index in
            let selector = rules[index].selector
            guard !rows.contains(where: rules[index].matches) else { return false }
            let isForAll = selector.workload == "*" && selector.cell == "*"
            return !isForAll || rows.contains { Glob.matches(selector.metric, $0.metric) }
        }
    }

    /// The most rules of a policy file, and the longest pattern in scalars: each is matched against every figure.
    public static let ruleLimit = 100
    public static let patternLimit = 200

    /// The policy of a gate without a policy file.
    ///
    /// It judges the engine, and backends that programs declare, by figures that are comparable across runs at
    /// different times: time and CPU time per operation, or the latency of an open loop, each ÷ the figure of Dispatch
    /// in the same block, which cancels drift of the machine; and the counts of memory, which barely vary. CPU time
    /// excludes the wait for a processor, so it shows a difference on a machine too busy for wall-clock times.
    public static let standard = GatePolicy(
        rules: [
            Rule(.own(metric: BaselineRatio.time.rawValue), FigureRule(maxRegression: 0.05)),
            Rule(.own(metric: BaselineRatio.cpuTime.rawValue), FigureRule(maxRegression: 0.05)),
        ] + openLoop(BaselineRatio.intendedLatency.rawValue) + memory)

    /// The default policy of a gate on two interleaved builds. The engine's own times are the most precise there: both
    /// builds ran on the same machine at the same time.
    public static let standardForSides = GatePolicy(
        rules: [
            Rule(.own(metric: "time", phase: "total"), FigureRule(maxRegression: 0.02)),
            Rule(.own(metric: "cpu_time"), FigureRule(maxRegression: 0.02)),
            Rule(.own(metric: Metric.sustainedRate.name), FigureRule(maxRegression: 0.1)),
        ] + openLoop(Metric.intendedLatency.name) + memory)

    /// Allocations, and memory that is not freed: a build that leaks a little with each operation shows it in every
    /// round.
    private static let memory = [
        Rule(.own(metric: Metric.allocations.name), FigureRule(maxRegression: 0.01)),
        Rule(.own(metric: Metric.unreleasedBytes.name), FigureRule(maxRegression: 0.01)),
    ]

    /// Rules for the latency of operations that arrive at their own rate.
    private static func openLoop(_ metric: String) -> [Rule] {
        [("p50", 0.1), ("p99", 0.25)].map { stat, margin in
            var selector = Selector.own(metric: metric)
            (selector.stat, selector.operationClass) = (stat, "")
            return Rule(selector, FigureRule(maxRegression: margin))
        }
    }
}

extension GatePolicy.Selector {
    fileprivate static func own(metric: String, phase: String = "*") -> Self {
        var selector = Self()
        selector.phase = phase
        selector.backend = own
        selector.metric = metric
        return selector
    }
}

/// The bounds for one figure.
public struct FigureRule: Sendable, Hashable {
    /// The greatest relative worsening that passes: 0.05 is 5 %.
    public var maxRegression: Double
    /// A worsening below this, in the metric's unit per operation or round, is no regression, whatever its ratio.
    /// Counts may always differ by the metric's slack.
    public var minAbsolute: Double
    /// The accepted probability of a false alarm over all judged figures, and of passing a figure that is worse by
    /// exactly the margin.
    public var alpha: Double
    /// The number of blocks on each side that a regression, or a missed goal, needs.
    public var minBlocks: Int
    /// A goal: the greatest ratio, or the greatest figure in the metric's unit per operation or round, that meets it. Nil
    /// for a rule that compares two sides.
    public var atMost: Double?

    public static let standardAlpha = 0.01
    public static let standardMinBlocks = 15

    public init(
        maxRegression: Double, minAbsolute: Double = 0, alpha: Double = standardAlpha,
        minBlocks: Int = standardMinBlocks
    ) {
        self.maxRegression = maxRegression
        self.minAbsolute = minAbsolute
        self.alpha = alpha
        self.minBlocks = minBlocks
    }

    /// A goal.
    public init(atMost: Double, minBlocks: Int = standardMinBlocks) {
        self.init(maxRegression: 0, minBlocks: minBlocks)
        self.atMost = atMost
    }
}

/// Names in which `*` matches any text, also none.
enum Glob {
    static func matches(_ pattern: String, _ name: String) -> Bool {
        let (pattern, name) = (Array(pattern.utf8), Array(name.utf8))
        let star = UInt8(ascii: "*")
        var (inPattern, inName) = (0, 0)
        // The positions to continue from at the latest star if the rest does not match.
        var retry: (pattern: Int, name: Int)?
        while inName < name.count {
            if inPattern < pattern.count, pattern[inPattern] == star {
                retry = (inPattern, inName)
                inPattern += 1
            } else if inPattern < pattern.count, pattern[inPattern] == name[inName] {
                inPattern += 1
                inName += 1
            } else if let (starred, begun) = retry {
                retry = (starred, begun + 1)
                (inPattern, inName) = (starred + 1, begun + 1)
            } else {
                return false
            }
        }
        return pattern[inPattern...].allSatisfy { $0 == star }
    }
}

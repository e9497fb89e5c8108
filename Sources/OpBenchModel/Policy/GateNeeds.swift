import Glibc

/// The samples that a run of a workload must have for a policy to judge it.
public struct GateNeeds: Sendable, Equatable {
    /// The kinds of sample that report what is judged.
    public private(set) var kinds: Set<SampleKind> = []
    /// How many blocks of a kind the rules need for figures that vary. For counts that barely vary, the usual few are
    /// enough.
    public private(set) var blocks: [SampleKind: Int] = [:]
    /// Whether ratios to the baseline backend are judged, which must then be measured as well.
    public private(set) var takesBaseline = false

    /// The kinds of sample that the shape has.
    private let possible: Set<SampleKind>

    public init(of policy: GatePolicy, on spec: WorkloadSpec) {
        self.init(of: policy, workload: spec.name, shape: spec.shape)
    }

    public init(of policy: GatePolicy, workload: String, shape: Shape) {
        possible = ShapeDefinition.of(shape).kinds
        for rule in policy.rules { add(rule.selector, minBlocks: rule.figure.minBlocks, workload) }
        for goal in policy.goals { add(goal.selector, minBlocks: goal.minBlocks, workload) }
    }

    private mutating func add(_ selector: GatePolicy.Selector, minBlocks: Int, _ workload: String) {
        guard Glob.matches(selector.workload, workload) else { return }
        for ratio in BaselineRatio.allCases
        where Glob.matches(selector.metric, ratio.rawValue) && isReported(ratio.metric) {
            takesBaseline = true
            need(ratio.metric.kinds, minBlocks)
        }
        for metric in Metric.catalogue
        where metric.direction != .neutral && Glob.matches(selector.metric, metric.name) && isReported(metric) {
            need(metric.kinds, metric.isDeterministic ? nil : minBlocks)
        }
    }

    /// Whether samples of the shape report the metric. Only an open loop has arrivals of its own; its time follows from
    /// the rate.
    private func isReported(_ metric: Metric) -> Bool {
        !metric.kinds.isDisjoint(with: possible) && !(metric.isOfOpenLoops && possible.contains(.throughput))
    }

    private mutating func need(_ kinds: Set<SampleKind>, _ minBlocks: Int?) {
        self.kinds.formUnion(kinds.intersection(possible))
        guard let minBlocks else { return }
        // Checks prove what backends promise; that they show order as well is no reason to take many.
        for kind in kinds.intersection(possible) where kind != .check {
            blocks[kind] = max(minBlocks, blocks[kind] ?? 0)
        }
    }
}

/// How many blocks two interleaved builds get: declared before anything is measured, so that looking at the figures
/// on the way costs a known part of alpha.
public enum BlockStages {
    /// Seven blocks screen: a cell needs no more if all its judged figures pass and none looks improved. A regression
    /// or an improvement needs fifteen. A cell that is still open then, and likely to be settled, continues to
    /// twenty-five, and to forty, the most that the exact test takes.
    public static let standard = [7, 15, 25, 40]

    /// A run of a hundred blocks takes fifteen times as long as one of seven: more are not to be borne.
    public static let mostOfRun = 100

    /// At how many of the stages a regression may be found: alpha is shared out evenly among them (Bonferroni), so that
    /// all looks together raise no more false alarms than one would.
    public static func looks(_ stages: [Int], minBlocks: Int) -> Int { max(1, stages.count { $0 >= minBlocks }) }

    /// How likely a figure that is worse by just the margin may pass when it has so many blocks: alpha with one stage, and
    /// a part of it with several, of which all together are alpha (Bonferroni).
    ///
    /// A stage takes an even part of what those before it have left. n blocks cannot tell with a probability of error below
    /// 2⁻ⁿ: a stage takes that if it is more, as long as a fifth is left to the later ones. Where it is not, nothing passes.
    public static func passTail(ofBlocks blocks: Int, _ stages: [Int], alpha: Double) -> Double {
        var rest = alpha
        for (index, stage) in stages.enumerated() {
            let share = rest / Double(stages.count - index)
            let least = exp2(-Double(stage))
            let tail = least > share && least <= 0.8 * rest ? least : share
            if blocks <= stage || index == stages.count - 1 { return tail }
            if least <= tail { rest -= tail }
        }
        return rest
    }
}

extension GatePolicy {
    /// The backends of a workload that a rule or goal can judge, and those that their ratios refer to, in the
    /// workload's order.
    public func judgedBackends(of spec: WorkloadSpec) -> [BackendID] {
        let cells = spec.cells.map(\.id)
        var judged: Set<BackendID> = []
        for backend in spec.backends {
            let needed = GatePolicy(
                rules: rules.filter { $0.selector.reaches(backend, of: spec.name, cells) },
                goals: goals.filter { $0.selector.reaches(backend, of: spec.name, cells) })
            if needed.rules.isEmpty && needed.goals.isEmpty { continue }
            judged.insert(backend)
            if GateNeeds(of: needed, on: spec).takesBaseline {
                // Ratios of backends on the declared axis are to the form on it.
                judged.formUnion([.dispatch, BackendID(rawValue: "dispatch:notify")])
            }
            for case .fastest(let references) in needed.goals.compactMap(\.reference) { judged.formUnion(references) }
        }
        return spec.backends.filter(judged.contains)
    }

    private init(rules: [Rule], goals: [Goal]) {
        self.init(rules: rules)
        self.goals = goals
    }
}

extension GatePolicy.Selector {
    /// Whether the rule can select a figure of the backend on one of the workload's cells.
    fileprivate func reaches(_ backend: BackendID, of workload: String, _ cells: [String]) -> Bool {
        Glob.matches(self.workload, workload) && matches(backend) && cells.contains { Glob.matches(cell, $0) }
    }
}

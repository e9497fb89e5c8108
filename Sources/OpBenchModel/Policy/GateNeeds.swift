import Glibc

/// The samples that a run of a workload must have for a policy to judge it.
public struct GateNeeds: Sendable, Equatable {
    /// The kinds of sample that report judged figures. A rule for all metrics asks for no kind that is taken on
    /// request.
    public private(set) var kinds: Set<SampleKind> = []
    /// The number of blocks per kind that the rules need for figures that vary. Counts that barely vary need only the
    /// default number.
    public private(set) var blocks: [SampleKind: Int] = [:]
    /// Whether ratios to the baseline backend are judged, so the baseline must be measured too.
    public private(set) var takesBaseline = false

    private let shape: Shape
    /// The kinds of sample that the shape has.
    private let possible: Set<SampleKind>

    public init(of policy: GatePolicy, on spec: WorkloadSpec) {
        self.init(of: policy, workload: spec.name, shape: spec.shape)
    }

    public init(of policy: GatePolicy, workload: String, shape: Shape) {
        self.shape = shape
        possible = ShapeDefinition.of(shape).kinds
        for rule in policy.rules { add(rule.selector, minBlocks: rule.figure.minBlocks, workload) }
    }

    private mutating func add(_ selector: GatePolicy.Selector, minBlocks: Int, _ workload: String) {
        guard Glob.matches(selector.workload, workload) else { return }
        for ratio in BaselineRatio.allCases
        where Glob.matches(selector.metric, ratio.rawValue) && isReported(ratio.metric) {
            takesBaseline = true
            need(ratio.metric.kinds, minBlocks)
        }
        for metric in Metric.catalogue
        where metric.direction != .neutral && Glob.matches(selector.metric, metric.name) && isReported(metric)
            && (selector.metric != "*" || !metric.kinds.allSatisfy(\.isOnRequest))
        {
            need(metric.kinds, metric.isDeterministic ? nil : minBlocks)
        }
    }

    /// Whether samples of the shape report the metric. Only open loops and replays have arrivals of their own, and only
    /// open loops have rates.
    private func isReported(_ metric: Metric) -> Bool {
        !metric.kinds.isDisjoint(with: possible)
            && (!metric.isOfOpenLoops || shape == .openLoop || shape == .replay && metric.isOfArrivals)
    }

    private mutating func need(_ kinds: Set<SampleKind>, _ minBlocks: Int?) {
        self.kinds.formUnion(kinds.intersection(possible))
        guard let minBlocks else { return }
        // Checks prove promises. They also report order, but that is no reason to take many.
        for kind in kinds.intersection(possible) where kind != .check {
            blocks[kind] = max(minBlocks, blocks[kind] ?? 0)
        }
    }
}

/// The numbers of blocks that two interleaved builds get, declared before anything is measured: each interim look at
/// the figures costs a known part of alpha.
public enum BlockStages {
    /// Seven blocks screen: a cell needs no more if all its judged figures pass and none looks improved. A regression
    /// or an improvement needs fifteen. A cell that is still undecided then, and likely to be decided, continues to
    /// twenty-five, and to forty, the maximum of the exact test.
    public static let standard = [7, 15, 25, 40]

    /// The largest number of blocks: a run of a hundred already takes fifteen times as long as one of seven.
    public static let mostOfRun = 100

    /// The number of stages at which a regression may be found: alpha is divided evenly among them (Bonferroni), so all
    /// looks together raise no more false alarms than one.
    public static func looks(_ stages: [Int], minBlocks: Int) -> Int { max(1, stages.count { $0 >= minBlocks }) }

    /// The accepted probability of passing a figure that is worse by exactly the margin, at this number of blocks. One
    /// stage uses all of alpha; several divide it (Bonferroni).
    ///
    /// A stage takes an even share of what earlier stages left. n blocks cannot reach a probability of error below 2⁻ⁿ:
    /// if that is more than the share, a stage takes it, as long as a fifth of alpha remains for later stages.
    /// Otherwise nothing passes at this stage.
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
    /// The backends of a workload that a rule can judge, and those that their ratios refer to, in the
    /// workload's order.
    public func judgedBackends(of spec: WorkloadSpec) -> [BackendID] {
        let cells = spec.cells.map(\.id)
        var judged: Set<BackendID> = []
        for backend in spec.backends {
            let needed = GatePolicy(rules: rules.filter { $0.selector.reaches(backend, of: spec.name, cells) })
            if needed.rules.isEmpty { continue }
            judged.insert(backend)
            if GateNeeds(of: needed, on: spec).takesBaseline {
                judged.formUnion(BackendID.baselines)
            }
            for case .fastest(let references) in needed.rules.compactMap(\.against) { judged.formUnion(references) }
        }
        return spec.backends.filter(judged.contains)
    }
}

extension GatePolicy.Selector {
    /// Whether the rule can select a figure of the backend on one of the workload's cells.
    fileprivate func reaches(_ backend: BackendID, of workload: String, _ cells: [String]) -> Bool {
        Glob.matches(self.workload, workload) && matches(backend) && cells.contains { Glob.matches(cell, $0) }
    }
}

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

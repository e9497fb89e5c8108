/// What a run must have for a policy to judge it.
public struct GateNeeds: Sendable, Equatable {
    /// The kinds of sample that report what is judged.
    public private(set) var kinds: Set<SampleKind> = []
    /// How many blocks of a kind the rules take, where the figures vary; one is enough of those that barely do.
    public private(set) var blocks: [SampleKind: Int] = [:]
    /// Whether ratios to the baseline backend are judged, which must then be measured as well.
    public private(set) var takesBaseline = false

    public init(of policy: GatePolicy) {
        for rule in policy.rules { add(rule.selector, minBlocks: rule.figure.minBlocks) }
        for goal in policy.goals { add(goal.selector, minBlocks: goal.minBlocks) }
    }

    private mutating func add(_ selector: GatePolicy.Selector, minBlocks: Int) {
        for ratio in BaselineRatio.allCases where Glob.matches(selector.metric, ratio.rawValue) {
            takesBaseline = true
            need(ratio.metric.kinds, minBlocks)
        }
        for metric in Metric.catalogue
        where metric.direction != .neutral && Glob.matches(selector.metric, metric.name) {
            need(metric.kinds, metric.isDeterministic ? nil : minBlocks)
        }
    }

    private mutating func need(_ kinds: Set<SampleKind>, _ minBlocks: Int?) {
        self.kinds.formUnion(kinds)
        guard let minBlocks else { return }
        // Checks prove what backends promise; that they show order as well is no reason to take many.
        for kind in kinds where kind != .check { blocks[kind] = max(minBlocks, blocks[kind] ?? 0) }
    }
}

import OpBenchModel

/// A policy with the facts that its verdicts depend on.
public struct AppliedPolicy: Sendable {
    let policy: GatePolicy
    private let stages: [Int]
    private let floors: KnownNoiseFloors
    private let ignoredParameters: Set<String>

    /// - Parameters:
    ///   - stages: the number of blocks per cell at the end of each stage; empty if they are not staged.
    ///   - floors: the noise floors of the judged run's host.
    ///   - ignored: the parameters in which matching cells may differ.
    public init(
        _ policy: GatePolicy, stages: [Int] = [], floors: KnownNoiseFloors, ignoring ignored: Set<String> = []
    ) {
        (self.policy, self.stages, self.floors, ignoredParameters) = (policy, stages, floors, ignored)
    }

    /// - Parameters:
    ///   - kinds: the kinds of comparison with a noise floor, of which the first that was measured counts.
    ///   - baseline: the baseline that the rules bound drift against; empty for the other rules.
    public func question(_ kinds: [ComparisonKind], against baseline: String = "") -> Comparison.Question {
        Comparison.Question(
            ignoredParameters: ignoredParameters, stages: stages, comparisons: policy.comparisons,
            noiseFloor: { [floors] row in kinds.lazy.compactMap { floors.floor(of: row, $0) }.first },
            rule: { [policy] row in
                var row = row
                row.against = baseline
                return policy.rule(for: row)
            })
    }
}

import OpBenchModel

/// A policy with the facts that its verdicts depend on.
public struct AppliedPolicy: Sendable {
    let policy: GatePolicy
    private let stages: [Int]
    private let ignoredParameters: Set<String>

    /// - Parameters:
    ///   - stages: the number of blocks per cell at the end of each stage; empty if they are not staged.
    ///   - ignored: the parameters in which matching cells may differ.
    public init(_ policy: GatePolicy, stages: [Int] = [], ignoring ignored: Set<String> = []) {
        (self.policy, self.stages, ignoredParameters) = (policy, stages, ignored)
    }

    /// - Parameter baseline: the baseline that the rules bound drift against; empty for the other rules.
    public func question(against baseline: String = "") -> Comparison.Question {
        Comparison.Question(
            ignoredParameters: ignoredParameters, stages: stages, comparisons: policy.comparisons,
            rule: { [policy] row in
                var row = row
                row.against = baseline
                return policy.rule(for: row)
            })
    }
}

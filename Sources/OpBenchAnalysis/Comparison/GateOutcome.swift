import OpBenchModel

/// What a gate says of a comparison as a whole.
public enum GateOutcome: String, Sendable {
    /// A sample is invalid, crashed or timed out, so the figures are not to be judged by.
    case badSample = "bad sample"
    case regression
    /// A figure is beyond its goal.
    case missed
    /// Something that the base has is not in the head, a goal's figure was not measured, or nothing at all was judged.
    case missing
    case inconclusive
    case pass

    /// - Parameters:
    ///   - rows: judged by the policy's rules.
    ///   - hasBadSample: whether either side has one.
    ///   - isLenient: whether figures of one side only are left out of account.
    public init(_ rows: [CompareRow], policy: GatePolicy, hasBadSample: Bool, isLenient: Bool) {
        let asked = rows.filter { policy.rule(for: $0) != nil }
        let judged = asked.filter { $0.verdict != .missing }
        // What only the head has is new, and nothing to be held against it.
        let isIncomplete = asked.contains { $0.verdict == .missing && $0.base != nil }
        self =
            if hasBadSample { .badSample } else if judged.contains(where: { $0.verdict == .regression }) {
                .regression
            } else if judged.isEmpty || isIncomplete && !isLenient {
                .missing
            } else if judged.contains(where: { $0.verdict == .inconclusive }) { .inconclusive } else { .pass }
    }

    /// - Parameters:
    ///   - rows: of goals.
    ///   - hasBadSample: whether a run has one.
    ///   - isLenient: whether goals without a figure are left out of account.
    public init(_ rows: [GoalRow], hasBadSample: Bool, isLenient: Bool) {
        let judged = rows.filter { $0.verdict != .missing }
        self =
            if hasBadSample { .badSample } else if judged.contains(where: { $0.verdict == .missed }) {
                .missed
            } else if judged.isEmpty || judged.count < rows.count && !isLenient {
                .missing
            } else if judged.contains(where: { $0.verdict == .inconclusive }) { .inconclusive } else { .pass }
    }
}

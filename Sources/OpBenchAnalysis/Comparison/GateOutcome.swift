import OpBenchModel

/// The overall result of a gate.
public enum GateOutcome: String, Sendable {
    /// A sample is invalid, crashed or timed out, so the figures are unreliable.
    case badSample = "bad sample"
    case regression
    /// A figure is beyond its goal.
    case missed
    /// A figure of the base is missing in the head, a goal's figure was not measured, or nothing was judged.
    case missing
    case inconclusive
    case pass

    /// - Parameters:
    ///   - rows: rows judged by the policy's rules.
    ///   - hasBadSample: whether either side has one.
    ///   - isLenient: whether figures of one side only are ignored.
    public init(_ rows: [CompareRow], policy: GatePolicy, hasBadSample: Bool, isLenient: Bool) {
        let asked = rows.filter { policy.rule(for: $0) != nil }
        let judged = asked.filter { $0.verdict != .missing }
        // A figure of the head alone is new and has no reference.
        let isIncomplete = asked.contains { $0.verdict == .missing && $0.base != nil }
        self =
            if hasBadSample { .badSample } else if judged.contains(where: { $0.verdict == .regression }) {
                .regression
            } else if judged.isEmpty || isIncomplete && !isLenient {
                .missing
            } else if judged.contains(where: { $0.verdict == .inconclusive }) { .inconclusive } else { .pass }
    }

    /// - Parameters:
    ///   - rows: rows of goals.
    ///   - hasBadSample: whether a run has one.
    ///   - isLenient: whether goals without a figure are ignored.
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

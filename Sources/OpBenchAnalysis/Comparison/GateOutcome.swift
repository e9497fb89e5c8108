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
    ///   - rows: the figures that the policy's rules ask for.
    ///   - hasBadSample: whether a run has one.
    ///   - isLenient: whether figures of one side only, and goals without a figure, are ignored.
    public init(_ rows: [CompareRow], hasBadSample: Bool, isLenient: Bool) {
        let verdicts = Set(rows.map(\.verdict)).subtracting([.missing])
        // A figure of the head alone is new and has no reference.
        let isIncomplete = rows.contains { $0.verdict == .missing && ($0.base != nil || $0.atMost != nil) }
        self =
            if hasBadSample { .badSample } else if verdicts.contains(.regression) {
                .regression
            } else if verdicts.contains(.missed) {
                .missed
            } else if verdicts.isEmpty || isIncomplete && !isLenient {
                .missing
            } else if verdicts.contains(.inconclusive) { .inconclusive } else { .pass }
    }
}

/// A remark on a sample, in the column `sample_flags`.
public enum SampleFlag: String, CaseIterable, Sendable, Codable, Comparable {
    /// Something else used the machine meanwhile.
    case noisy
    /// The sample repeats a noisy one of its block.
    case rerun
    /// The sample lasted less long than planned.
    case short
    /// The times of the warm-up still fell at its end.
    case slope
    /// The rounds changed their level.
    case unsteady
    /// Operations arrived faster than they ended.
    case overloaded
    /// The backend does not promise what the shape is about: see `BackendGuarantees`.
    case unpromised
    /// The cell is about waiting: see `WorkloadPlan`.
    case waits
    /// The axis.
    case declared
    case byHand = "by_hand"

    public static func < (left: SampleFlag, right: SampleFlag) -> Bool { left.rawValue < right.rawValue }
}

/// The five queue priorities by their names in workload files, lowest first.
public enum PriorityLevel: String, CaseIterable, Sendable {
    case veryLow = "very_low"
    case low, normal, high
    case veryHigh = "very_high"
}

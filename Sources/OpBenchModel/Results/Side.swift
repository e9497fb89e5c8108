/// Which of two interleaved builds a sample is of.
public enum Side: String, CaseIterable, Sendable, Codable {
    /// What is compared with.
    case base
    /// What is judged.
    case head
}

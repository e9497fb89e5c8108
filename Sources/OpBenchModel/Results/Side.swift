/// Which of two builds that run in turns a sample is of.
public enum Side: String, CaseIterable, Sendable, Codable {
    /// What is compared with.
    case base
    /// What is judged.
    case head
}

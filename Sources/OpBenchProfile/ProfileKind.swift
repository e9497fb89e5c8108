/// What a profile shows.
public enum ProfileKind: String, CaseIterable, Codable, Sendable {
    /// What each operation and thread did when.
    case trace
    /// Where CPU time goes, by function.
    case cpu
    /// Where threads wait, for how long, and who wakes them.
    case offcpu
    /// What is allocated where.
    case heap
}

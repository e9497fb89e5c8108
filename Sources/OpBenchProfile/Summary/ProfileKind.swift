/// The kinds of profile.
public enum ProfileKind: String, CaseIterable, Codable, Sendable {
    /// The times and threads of every operation.
    case trace
    /// CPU time by function.
    case cpu
    /// The places and durations of threads' waits, and the wakers.
    case offcpu
    /// Allocations by stack.
    case heap
}

/// What a thread does beside operations. The raw values are those of trace files.
public enum ThreadStep: UInt8, CaseIterable, Sendable {
    /// The thread begins to exist; in a pool, it counts as a worker from now on.
    case begin
    /// The thread ends.
    case end
    /// It goes to sleep for want of work, or blocked.
    case park
    /// It runs again; `other` is the thread that woke it, if one did.
    case unpark
    /// It wakes `other`: the system call returned.
    case wake
    /// It takes the lease of queue `other`, and executes for it.
    case leaseTaken
    /// It gives up the lease of queue `other`.
    case leaseGivenUp
    /// It is blocked within an operation, and the pool may run one worker more in its place.
    case growth
    /// It is no longer blocked: the pool's width shrinks again.
    case shrinkage
}

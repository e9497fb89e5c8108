/// A thread's step outside of operations. The raw values are those of `OperationTrace.ThreadStep` and of `crecording_kind`.
public enum ThreadStep: UInt8, CaseIterable, Sendable {
    /// The thread starts; in a pool, it counts as a worker from now on.
    case begin = 32
    /// The thread ends.
    case end
    /// The thread goes to sleep, without work or blocked.
    case park
    /// The thread runs again; `other` is the thread that woke it, if any.
    case unpark
    /// The thread wakes `other`: the system call returned.
    case wake
    /// The thread takes the lease of queue `other`, and executes for it.
    case leaseTaken
    /// The thread gives up the lease of queue `other`.
    case leaseGivenUp
    /// The thread is blocked within an operation, and the pool may run one more worker in its place.
    case growth
    /// The thread is no longer blocked: the pool's width shrinks again.
    case shrinkage
}

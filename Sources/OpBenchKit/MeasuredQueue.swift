/// A queue that can be measured: it runs each closure that it is given once, on a thread of its choice.
///
/// This is all that a queue must be able to do. What else it can, it says by conforming to `SuspendableQueue`,
/// `PrioritizedQueue`, `BarrierQueue`, `DependencyQueue`, `CancellingQueue`, `AsynchronousQueue`, `BulkQueue`,
/// `WaitingQueue` or `ThreadPriorityQueue`; a shape that needs more is reported as `unsupported`, with the name of the
/// protocol that is missing.
///
/// The object is made by the closure of a `Backend` once for every round, or several times where a shape has several
/// queues. What is called while the clock runs is one method of the object for each operation.
public protocol MeasuredQueue: AnyObject, Sendable {
    /// Runs `work` once, now or later.
    ///
    /// Called by several threads at once, and by work that is running.
    func submit(_ work: @escaping Work)

    /// Lets go of threads and of whatever else the object holds. Called once, when no work is left to run; the thread that
    /// ran the last may still be on its way out of it. Without it, nothing is called but `deinit`.
    func shutDown()
}

extension MeasuredQueue {
    /// What a queue runs.
    public typealias Work = @Sendable () -> Void

    public func shutDown() {}
}

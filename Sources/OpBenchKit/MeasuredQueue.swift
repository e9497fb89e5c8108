/// A queue that can be measured: it runs each closure that it is given once, on a thread of its choice.
///
/// This is all that a queue must be able to do. It declares other capabilities by conforming to `SuspendableQueue`,
/// `PrioritizedQueue`, `BarrierQueue`, `DependencyQueue`, `CancellingQueue`, `AsynchronousQueue`, `BulkQueue`,
/// `WaitingQueue` or `ThreadPriorityQueue`; a shape that needs more is reported as `unsupported`, with the name of the
/// missing protocol.
///
/// The closure of a `Backend` makes the object once for every round, or several times if a shape has several queues.
/// While the clock runs, one method of the object is called for each operation.
public protocol MeasuredQueue: AnyObject, Sendable {
    /// Runs `work` once, now or later.
    ///
    /// Called by several threads at once, and by work that is running.
    func submit(_ work: @escaping Work)

    /// Releases threads and other resources. Called once, when no work is left to run; the thread that ran the last
    /// work may still be returning from it. Without it, only `deinit` is called.
    func shutDown()
}

extension MeasuredQueue {
    /// The work that a queue runs.
    public typealias Work = @Sendable () -> Void

    public func shutDown() {}
}

/// A queue that can be suspended: for the shapes `suspend_resume` and `memory_fence`, for `enqueue: "suspended"` in
/// others, and for the memory of an operation while it waits.
public protocol SuspendableQueue: MeasuredQueue {
    /// Keeps work from starting. Running work continues. Called by any thread, in balance with `resume()`.
    func suspend()
    func resume()
}

/// A queue that starts more urgent work first: for the shape `priority_mix`.
public protocol PrioritizedQueue: MeasuredQueue {
    func submit(priority: QueuePriority, _ work: @escaping Work)
}

/// The urgency of work, by the raw values of `Operation.QueuePriority`.
public enum QueuePriority: Int, Sendable, CaseIterable, Comparable {
    case veryLow = -8
    case low = -4
    case normal = 0
    case high = 4
    case veryHigh = 8

    public static func < (less: Self, more: Self) -> Bool { less.rawValue < more.rawValue }
}

/// A queue that sets the priority of the threads that run work: for the shape `thread_priority`.
public protocol ThreadPriorityQueue: MeasuredQueue {
    /// Runs `work` on a thread with the priority `threadPriority`: 0 to 1; 0.5 is the priority of other threads.
    func submit(threadPriority: Double, _ work: @escaping Work)
}

/// A queue with barriers: for the shape `barriers`.
public protocol BarrierQueue: MeasuredQueue {
    /// Runs `work` alone, after everything that was submitted before has ended, and before anything that is submitted
    /// later starts. On a queue that runs one after the other in the order of submission this is `submit`.
    func submitBarrier(_ work: @escaping Work)
}

/// A queue that takes dependencies: for the shapes `chain` and `graph`.
///
/// Without it they are executed as well: each operation submits, as its last act, the successors that it has made
/// ready.
public protocol DependencyQueue: MeasuredQueue {
    /// The handle of submitted work.
    associatedtype Ticket: Sendable

    /// Runs `work` after the work of all those tickets has ended.
    func submit(after tickets: [Ticket], _ work: @escaping Work) -> Ticket
}

/// A queue that cancels work that it has not started: for the shape `cancel_storm`.
///
/// Without it the shape is executed as well: each operation reads a flag first.
public protocol CancellingQueue: MeasuredQueue {
    /// The handle of submitted work.
    associatedtype Ticket: Sendable

    func submitCancellable(_ work: @escaping Work) -> Ticket

    /// Keeps work from running, if it has not started.
    ///
    /// - Returns: whether it never runs. If false, it has run, is running, or will run.
    func cancel(_ ticket: Ticket) -> Bool
}

/// A queue of work that continues after it has returned, until its end is announced: for the shape `asynchronous` with
/// a limit, of which it occupies a slot until then. Without a limit a queue needs nothing for it.
public protocol AsynchronousQueue: MeasuredQueue {
    /// - Parameter work: run it once; it calls `end` once, from any thread, perhaps before it returns.
    func submitAsynchronous(_ work: @escaping @Sendable (_ end: @escaping Work) -> Void)
}

/// A queue that takes many closures by one call: for `submission: "bulk"`. Without it a bulk is a loop of `submit`.
public protocol BulkQueue: MeasuredQueue {
    func submit(contentsOf works: [Work])
}

/// A queue with its own wait, which is then measured instead of a count of ends, in shapes whose work submits no other
/// work.
public protocol WaitingQueue: MeasuredQueue {
    /// Returns when all submitted work has ended or was cancelled. Called by the submitting thread, or after all
    /// submitting threads.
    func waitUntilEmpty()
}

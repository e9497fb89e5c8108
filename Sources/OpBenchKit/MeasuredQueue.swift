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

/// A queue that can be suspended: for the shapes `suspend_resume` and `memory_fence`, for `enqueue: "suspended"` in others,
/// and for what an operation holds while it waits.
public protocol SuspendableQueue: MeasuredQueue {
    /// Keeps work from starting. What is running goes on. Called by any thread, in balance with `resume()`.
    func suspend()
    func resume()
}

/// A queue of which more urgent work starts first: for the shape `priority_mix`.
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
    /// - Parameter threadPriority: 0 to 1; 0.5 is the priority of other threads.
    func submit(threadPriority: Double, _ work: @escaping Work)
}

/// A queue with barriers: for the shape `barriers`.
public protocol BarrierQueue: MeasuredQueue {
    /// Runs `work` alone, after everything that was submitted before has ended, and before anything that is submitted later
    /// starts. On a queue that runs one after the other in the order of submission this is `submit`.
    func submitBarrier(_ work: @escaping Work)
}

/// A queue that knows what waits for what: for the shapes `chain` and `graph`.
///
/// Without it those are executed as well: each operation submits, as its last act, the successors that it has made ready.
public protocol DependencyQueue: MeasuredQueue {
    /// Stands for work that was submitted.
    associatedtype Ticket: Sendable

    /// Runs `work` after the work of all those tickets has ended.
    func submit(after tickets: [Ticket], _ work: @escaping Work) -> Ticket
}

/// A queue that takes back what it has not started: for the shape `cancel_storm`.
///
/// Without it that is executed as well: each operation looks at a flag first.
public protocol CancellingQueue: MeasuredQueue {
    /// Stands for work that was submitted.
    associatedtype Ticket: Sendable

    func submitCancellable(_ work: @escaping Work) -> Ticket

    /// Keeps work from running, if it has not started.
    ///
    /// - Returns: whether it never runs. If false, it has run, is running, or will run.
    func cancel(_ ticket: Ticket) -> Bool
}

/// A queue of work that goes on after it has returned, until its end is announced: for the shape `asynchronous` with a limit,
/// of which a slot stays taken until then. Without a limit a queue needs nothing for it.
public protocol AsynchronousQueue: MeasuredQueue {
    /// - Parameter work: is to be run once, and calls `end` once, from any thread, perhaps before it returns.
    func submitAsynchronous(_ work: @escaping @Sendable (_ end: @escaping Work) -> Void)
}

/// A queue that takes much work by one call: for `submission: "bulk"`. Without it a bulk is a loop of `submit`.
public protocol BulkQueue: MeasuredQueue {
    func submit(contentsOf works: [Work])
}

/// A queue with a wait of its own, which is then measured instead of a count of ends: in shapes in which work submits no
/// other work.
public protocol WaitingQueue: MeasuredQueue {
    /// Returns when everything that was submitted has ended, or was taken back. Called by the thread that submitted, or
    /// after all that have.
    func waitUntilEmpty()
}

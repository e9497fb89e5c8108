extension OperationTrace {
    /// A step of an operation. Each step is sent once, in this order, except as stated.
    public enum OperationStep: UInt8, CaseIterable, Sendable {
        /// It is being added to a queue, and cannot be found there yet. Sent by the adding thread. Not sent for an
        /// operation that is started by hand.
        case enqueued
        /// Its dependencies are finished, or it was cancelled. Sent by the thread that caused this, before the queue
        /// may start it. If it is so at adding, the adding thread sends it right after `enqueued`. Suspension, limits
        /// and barriers may still hold it back. Sent again if the operation lost its readiness meanwhile, or if its
        /// class overrides `isReady` and was asked again: the last one counts. Not sent for an operation in no queue.
        case ready
        /// Its `main` or its overridden `start` is called next, or its task is made. Sent by the thread that does so.
        /// Not sent for an operation that is cancelled or skipped before that, unless its class overrides `start`.
        case started
        /// It is finished. Sent by the thread that finished it, before anything that depends on it becomes ready.
        case finished
        /// Its dependents have been counted down, waiting threads and tasks have been woken, and its observers have
        /// been called. A completion block is called after that. Sent by the same thread as `finished`.
        case notified
    }

    /// Something that happened to an operation.
    public struct OperationEvent: Sendable {
        /// The step.
        public let step: OperationStep
        /// Nanoseconds of CLOCK_MONOTONIC, read just before the receiver is called.
        public let time: Int64
        /// The calling thread, gettid(2).
        public let thread: Int32
        /// The operation. While operations are traced, a closure gets an object too. It is alive during the call.
        public let operation: Operation
        /// The queue that it belongs to; nil if it is in none.
        public let queue: QueueID?
        /// Whether the operation carries the block of a barrier.
        public let isBarrier: Bool
    }

    /// A step of a thread of the engine, or of any thread that runs operations for a queue.
    public enum ThreadStep: UInt8, CaseIterable, Sendable {
        /// A worker has begun. Its thread has its name already.
        case begin
        /// The worker ends. Its thread ends too, or becomes another worker, with a `begin`.
        case end
        /// It goes to sleep, because there is nothing to do.
        case park
        /// It is awake again. `other` is the worker or other thread that woke it. Nil on timeout, or if threads were
        /// not traced yet at that time.
        case unpark
        /// It has woken the worker `other`: the system call has returned. Any thread that adds work may do this.
        case wake
        /// It begins to run operations of `queue`. It is a worker, a thread of Dispatch, or the main thread.
        case leaseTaken
        /// It has found nothing more to start in `queue`, or another queue has its turn.
        case leaseGivenUp
        /// It is blocked inside an operation, and the pool may run one more worker in its place. `thread` is the
        /// blocked thread. Sent by that thread itself if it waits inside the engine, otherwise by the thread that
        /// watches for blocked workers.
        case growth
        /// It is no longer blocked, and one worker less may run. Sent by the thread itself.
        case shrinkage
    }

    /// Something that a thread did.
    public struct ThreadEvent: Sendable {
        /// The step.
        public let step: ThreadStep
        /// Nanoseconds of CLOCK_MONOTONIC, read when it happened.
        public let time: Int64
        /// The thread that did it, gettid(2). Except for `growth`, the calling thread.
        public let thread: Int32
        /// The other thread, for steps that have one.
        public let other: Int32?
        /// The queue, for steps that have one.
        public let queue: QueueID?
    }

    /// The identity of a queue, which does not keep it alive. Two queues that exist at the same time have different
    /// identities.
    public struct QueueID: Hashable, Sendable {
        let bits: UInt

        /// The identity of a queue, to compare with that of an event.
        public init(_ queue: OperationQueue) { self.init(queue.core) }

        /// The address of the queue's core. An operation that has left its queue can still name that: reading it does
        /// not follow it.
        init(_ core: QueueCore) { self.init(.passUnretained(core)) }

        init(_ core: Unmanaged<QueueCore>) { bits = UInt(bitPattern: core.toOpaque()) }
    }
}

extension OperationTrace {
    /// What happens to an operation. Each is told once, in this order, except as stated.
    public enum OperationStep: UInt8, CaseIterable, Sendable {
        /// It is added to a queue, and is not to be found there yet. Told by the adding thread. Not told of an operation
        /// that is started by hand.
        case enqueued
        /// Nothing that it depends on is unfinished, or it was cancelled. Told by the thread that brought this about,
        /// before the queue may start it: the adding thread, right after `enqueued`, if it is so then. Suspensions,
        /// limits and barriers may still hold it back. Told again if it lost its readiness meanwhile, or if its class
        /// overrides `isReady` and was asked again: the last one counts. Not told of an operation in no queue.
        case ready
        /// Its `main` or its overridden `start` is called next, or its task is made. Told by the thread that does so.
        /// Not told of an operation that is cancelled or skipped before that, unless its class overrides `start`.
        case started
        /// It is finished. Told by the thread that finished it, before anything that depends on it becomes ready.
        case finished
        /// Its dependents have been counted down, threads and tasks that wait for it have been woken, and its observers
        /// have been called. A completion block is called after that. Told by the same thread as `finished`.
        case notified
    }

    /// Something that happened to an operation.
    public struct OperationEvent: Sendable {
        /// What it was.
        public let step: OperationStep
        /// Nanoseconds of CLOCK_MONOTONIC, read just before the receiver is called.
        public let time: Int64
        /// The calling thread, gettid(2).
        public let thread: Int32
        /// A closure without an object of its own gets one while operations are traced. It is alive during the call.
        public let operation: Operation
        /// The queue that it belongs to; nil if it is in none.
        public let queue: QueueID?
        /// Whether the operation carries the block of a barrier.
        public let isBarrier: Bool
    }

    /// What a thread of the engine does, or any thread that runs operations for a queue.
    public enum ThreadStep: UInt8, CaseIterable, Sendable {
        /// A worker has begun. Its thread has its name already.
        case begin
        /// The worker ends. Its thread ends too, or goes on as another worker, with a `begin`.
        case end
        /// It goes to sleep, because nothing is to be done.
        case park
        /// It is awake again. `other` is the worker, or other thread, that woke it; nil if the time ran out, or if
        /// threads were not yet traced then.
        case unpark
        /// It has woken the worker `other`: the system call has returned. Any thread that adds work may do this.
        case wake
        /// It begins to run operations of `queue`. A worker, a thread of Dispatch, or the main thread.
        case leaseTaken
        /// It has found nothing more to start in `queue`, or it is another queue's turn.
        case leaseGivenUp
        /// It is blocked inside an operation, and the pool may run one more worker in its place. `thread` is the blocked
        /// one. Told by itself if it waits for the engine, otherwise by the thread that watches for blocked workers.
        case growth
        /// It is no longer blocked: one worker less may run. Told by itself.
        case shrinkage
    }

    /// Something that a thread did.
    public struct ThreadEvent: Sendable {
        /// What it was.
        public let step: ThreadStep
        /// Nanoseconds of CLOCK_MONOTONIC, read when it happened.
        public let time: Int64
        /// The thread that did it, gettid(2): the calling thread, but for `growth`.
        public let thread: Int32
        /// Another thread, by `step`.
        public let other: Int32?
        /// A queue, by `step`.
        public let queue: QueueID?
    }

    /// Which queue it is, without keeping it alive. Two queues that exist at the same time have different ones.
    public struct QueueID: Hashable, Sendable {
        let bits: UInt

        init(bits: UInt) { self.bits = bits }

        /// The identity of a queue, to be compared with that of an event.
        public init(_ queue: OperationQueue) { bits = UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque()) }
    }
}

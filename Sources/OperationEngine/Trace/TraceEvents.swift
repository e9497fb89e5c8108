import Synchronization

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

    /// Something that happened to an operation or a closure.
    public struct OperationEvent: @unchecked Sendable {
        /// The step.
        public let step: OperationStep
        /// Nanoseconds of CLOCK_MONOTONIC, read just before the receiver is called.
        public let time: Int64
        /// The calling thread, gettid(2).
        public let thread: Int32
        /// The same in all events of one operation, or of one closure.
        public let id: OperationID
        /// The operation, alive during the call; nil for a closure that has no object. It may have got one by the next
        /// event, if a thread has asked for the queue's operations.
        public let operation: Operation?
        /// Whether the operation carries the block of a barrier.
        public let isBarrier: Bool
        /// Not followed except by `enteredQueue`, since the queue may be gone.
        let core: Unmanaged<QueueCore>?

        /// The queue that it belongs to; nil if it is in none.
        public var queue: QueueID? { core.map { QueueID($0) } }

        /// For `enqueued`: the queue itself, to read its name or limit. Otherwise nil. To be called during the call of
        /// the receiver only: the adding thread keeps the queue alive.
        public var enteredQueue: OperationQueue? {
            step == .enqueued ? core?._withUnsafeGuaranteedRef(\.liveOwner) : nil
        }
    }

    /// The identity of an operation or closure, which does not keep it alive. Unlike an address, no other one of the
    /// process has it, or will have it.
    public struct OperationID: Hashable, Sendable {
        /// A number, with no meaning but this.
        public let rawValue: UInt64

        private static let operations = Synchronization.Atomic<UInt64>(0)

        /// The identity of an operation, to compare with that of an event. Takes memory for it at the first call.
        public init(_ operation: Operation) { self = operation.traceID }

        private init(rawValue: UInt64) { self.rawValue = rawValue }

        /// Relaxed: the number is all that threads exchange.
        static func next() -> OperationID {
            OperationID(rawValue: operations.wrappingAdd(1, ordering: .relaxed).newValue)
        }

        /// The upper bit sets closures apart. A slab has fewer than 256 places.
        static func ofClosure(slab: UInt64, place: Int) -> OperationID {
            OperationID(rawValue: 1 << 63 | slab << 8 | UInt64(place))
        }
    }

    /// Something that a program set. Sent by the thread that did so, at any time between the steps of an operation.
    public struct ChangeEvent: Sendable {
        /// A setting, or a cancellation.
        public enum Change: Sendable {
            /// A queue was made, with the settings of a new one.
            case made(OperationQueue)
            /// A queue's name was set.
            case name(OperationQueue)
            /// A queue's `maxConcurrentOperationCount` was set.
            case limit(OperationQueue)
            /// A queue is being suspended.
            case suspended(OperationQueue)
            /// A queue is to go on.
            case resumed(OperationQueue)
            /// An operation that was not finished was cancelled.
            case cancelled(OperationID)
            /// An operation in a queue waits for another one. Sent after its `enqueued` for each dependency that it has
            /// then, and for each that is added later. Removed ones are not reported.
            case dependency(OperationID, on: OperationID)
        }

        /// The change. Queues are alive during the call.
        public let change: Change
        /// Nanoseconds of CLOCK_MONOTONIC, read just before the receiver is called.
        public let time: Int64
        /// The calling thread, gettid(2).
        public let thread: Int32
    }

    /// A step of a thread of the engine, or of any thread that runs operations for a queue. The raw values do not
    /// change: recordings have them.
    public enum ThreadStep: UInt8, CaseIterable, Sendable {
        /// A worker has begun. Its thread has its name already.
        case begin = 32
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

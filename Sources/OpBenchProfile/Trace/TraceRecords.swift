// The records of a trace. Each is of fixed size, holds integers only and has no padding, so that an array of them is
// one piece of memory that is written to a file and read back as it is: every bit pattern is a record, though perhaps
// one that `SampleTrace.check()` refuses.

import OpBenchModel

/// A point of time in nanoseconds since the start mark of the sample; negative before it.
public typealias TraceTime = Int64

extension TraceTime {
    /// Stands where an event did not happen, or was not seen.
    public static let absent: TraceTime = .max
}

/// When one operation passed each of its stations, and where. 64 bytes.
public struct TracedOperation: Equatable, Sendable, BitwiseCopyable {
    /// Stands where a thread, a queue or a class is not known.
    public static let unknown = UInt16.max

    /// When it was handed to its queue.
    public var submit: TraceTime
    /// When the last of its dependencies had finished; `submit` if there is none.
    public var ready: TraceTime
    /// The first line of its body.
    public var start: TraceTime
    /// Behind the last line of its body; of an asynchronous operation, when it was declared finished.
    public var end: TraceTime
    /// When its dependents, completion block and waiting threads had been told.
    public var notified: TraceTime
    /// For how long its thread had no processor in its body, in nanoseconds: switched out, and not asleep by the plan.
    public var processorWait: Int64
    /// How long its body takes by the plan, in nanoseconds; `absent` if the plan does not tell.
    public var planned: Int64
    /// The thread that executed it, by its place in `SampleTrace.threads`.
    public var worker: UInt16
    /// The thread that submitted it.
    public var submitter: UInt16
    /// By its place in `SampleTrace.queues`.
    public var queue: UInt16
    /// By its place in `SampleTrace.classes`.
    public var operationClass: UInt8
    /// Higher is more urgent, as in `Operation.QueuePriority`.
    public var priority: Int8

    public init(
        submit: TraceTime, ready: TraceTime? = nil, start: TraceTime, end: TraceTime, notified: TraceTime = .absent,
        processorWait: Int64 = 0, planned: Int64 = .absent,
        worker: UInt16 = unknown, submitter: UInt16 = unknown, queue: UInt16 = 0, operationClass: UInt8 = 0,
        priority: Int8 = 0
    ) {
        self.submit = submit
        self.ready = ready ?? submit
        self.start = start
        self.end = end
        self.notified = notified
        self.processorWait = processorWait
        self.planned = planned
        self.worker = worker
        self.submitter = submitter
        self.queue = queue
        self.operationClass = operationClass
        self.priority = priority
    }

    /// Whether its body ran to its end. Cancelled operations may lack both times.
    public var wasExecuted: Bool { start != .absent && end != .absent }

    /// From the first line of its body to its end; 0 if it did not run.
    public var elapsed: Int64 { wasExecuted ? end - start : 0 }

    /// What its body itself took: the elapsed time without the wait for a processor.
    public var duration: Int64 { elapsed - processorWait }
}

/// Something that a thread did. 16 bytes.
public struct TracedThreadEvent: Equatable, Sendable, BitwiseCopyable {
    public typealias Kind = ThreadStep

    public var time: TraceTime
    /// By its place in `SampleTrace.threads`.
    public var thread: UInt16
    /// A thread or a queue, by `kind`; `TracedOperation.unknown` where there is none.
    public var other: UInt16
    var rawKind: UInt8
    private var reserved: (UInt8, UInt8, UInt8) = (0, 0, 0)

    public init(time: TraceTime, thread: UInt16, kind: Kind, other: UInt16 = TracedOperation.unknown) {
        self.time = time
        self.thread = thread
        self.other = other
        rawKind = kind.rawValue
    }

    /// nil only in a trace that `SampleTrace.check()` refuses.
    public var kind: Kind? { Kind(rawValue: rawKind) }

    public static func == (left: TracedThreadEvent, right: TracedThreadEvent) -> Bool {
        (left.time, left.thread, left.other, left.rawKind) == (right.time, right.thread, right.other, right.rawKind)
    }
}

/// A time during which a queue was held back. 24 bytes.
public struct TracedSpan: Equatable, Sendable, BitwiseCopyable {
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// The queue was suspended.
        case suspension
        /// A barrier was in the queue: from when it was submitted to when it ended.
        case barrier
    }

    public var start: TraceTime
    /// `absent` if it had not ended when the sample did.
    public var end: TraceTime
    /// The barrier, by its place in `SampleTrace.operations`; `UInt32.max` for a suspension.
    public var operation: UInt32
    public var queue: UInt16
    var rawKind: UInt8
    private var reserved: UInt8 = 0

    public init(kind: Kind, queue: UInt16, start: TraceTime, end: TraceTime, operation: UInt32 = .max) {
        self.start = start
        self.end = end
        self.operation = operation
        self.queue = queue
        rawKind = kind.rawValue
    }

    /// nil only in a trace that `SampleTrace.check()` refuses.
    public var kind: Kind? { Kind(rawValue: rawKind) }

    public static func == (left: TracedSpan, right: TracedSpan) -> Bool {
        (left.start, left.end, left.operation, left.queue, left.rawKind)
            == (right.start, right.end, right.operation, right.queue, right.rawKind)
    }
}

/// `successor` waits for `predecessor` to end; both by their places in `SampleTrace.operations`. 8 bytes.
public struct TracedDependency: Hashable, Sendable, BitwiseCopyable {
    public var predecessor: UInt32
    public var successor: UInt32

    public init(_ predecessor: UInt32, before successor: UInt32) {
        self.predecessor = predecessor
        self.successor = successor
    }
}

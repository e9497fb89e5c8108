// The records of a trace. Each has a fixed size, contains only integers and has no padding. So an array of them is one
// piece of memory that is written to a file and read back unchanged. Every bit pattern is a record, though perhaps one
// that `SampleTrace.check()` rejects.

import OpBenchModel

/// A time in nanoseconds since the start mark of the sample; negative before it.
public typealias TraceTime = Int64

extension TraceTime {
    /// The value for an event that did not happen, or was not recorded.
    public static let absent: TraceTime = .max
}

/// The times of one operation's stages, and its threads. 72 bytes.
public struct TracedOperation: Equatable, Sendable, BitwiseCopyable {
    /// The value for an unknown thread, queue or class.
    public static let unknown = UInt16.max

    /// The time of its submission to the queue.
    public var submit: TraceTime
    /// The time when the last of its dependencies finished; `submit` without dependencies.
    public var ready: TraceTime
    /// The time of the first line of its body.
    public var start: TraceTime
    /// The time after the last line of its body; for an asynchronous operation, when it was declared finished.
    public var end: TraceTime
    /// The time when its dependents, completion block and waiting threads had been notified.
    public var notified: TraceTime
    /// The time that its body spent without a processor, in nanoseconds: blocked, or in the kernel's run queue.
    public var offProcessor: Int64
    /// The part of that in the run queue; `absent` if it is not known.
    public var processorWait: Int64
    /// The planned duration of its body, in nanoseconds; `absent` if the plan has none.
    public var planned: Int64
    /// The thread that executed it, as an index in `SampleTrace.threads`.
    public var worker: UInt16
    /// The thread that submitted it.
    public var submitter: UInt16
    /// An index in `SampleTrace.queues`.
    public var queue: UInt16
    /// An index in `SampleTrace.classes`.
    public var operationClass: UInt8
    /// Higher is more urgent, as in `Operation.QueuePriority`.
    public var priority: Int8

    public init(
        submit: TraceTime, ready: TraceTime? = nil, start: TraceTime, end: TraceTime, notified: TraceTime = .absent,
        offProcessor: Int64 = 0, processorWait: Int64 = 0, planned: Int64 = .absent,
        worker: UInt16 = unknown, submitter: UInt16 = unknown, queue: UInt16 = 0, operationClass: UInt8 = 0,
        priority: Int8 = 0
    ) {
        self.submit = submit
        self.ready = ready ?? submit
        self.start = start
        self.end = end
        self.notified = notified
        self.offProcessor = offProcessor
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

    /// The time from the first line of its body to its end; 0 if it did not run.
    public var elapsed: Int64 { wasExecuted ? end - start : 0 }

    /// The time of its body with a processor.
    public var ownTime: Int64 { elapsed - offProcessor }

    /// The known time of its body in the run queue.
    public var knownProcessorWait: Int64 { processorWait == .absent ? 0 : processorWait }

    /// The time for which its body was blocked: it slept, or waited for a lock, a file, another thread. Where waits for
    /// a processor are not known, with these.
    public var blocked: Int64 { offProcessor - knownProcessorWait }

    /// The duration of its body on a machine of its own: the elapsed time without known waits for a processor.
    public var duration: Int64 { elapsed - knownProcessorWait }

    /// The time of its body without a processor.
    public var bodyWaits: WaitSplit {
        var waits = WaitSplit()
        waits[.processor] = knownProcessorWait
        waits[processorWait == .absent ? .blockedOrProcessor : .blocked] = blocked
        return waits
    }
}

/// An event of a thread. 16 bytes.
public struct TracedThreadEvent: Equatable, Sendable, BitwiseCopyable {
    public typealias Kind = ThreadStep

    public var time: TraceTime
    /// An index in `SampleTrace.threads`.
    public var thread: UInt16
    /// A thread or a queue, by `kind`; `TracedOperation.unknown` if there is none.
    public var other: UInt16
    var rawKind: UInt8
    private var reserved: (UInt8, UInt8, UInt8) = (0, 0, 0)

    public init(time: TraceTime, thread: UInt16, kind: Kind, other: UInt16 = TracedOperation.unknown) {
        self.time = time
        self.thread = thread
        self.other = other
        rawKind = kind.rawValue
    }

    /// Nil only in a trace that `SampleTrace.check()` rejects.
    public var kind: Kind? { Kind(rawValue: rawKind) }

    public static func == (left: TracedThreadEvent, right: TracedThreadEvent) -> Bool {
        (left.time, left.thread, left.other, left.rawKind) == (right.time, right.thread, right.other, right.rawKind)
    }
}

/// A time during which a queue was blocked. 24 bytes.
public struct TracedSpan: Equatable, Sendable, BitwiseCopyable {
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// The queue was suspended.
        case suspension
        /// A barrier was in the queue: from its submission to its end.
        case barrier
    }

    public var start: TraceTime
    /// `absent` if it had not ended by the sample's end.
    public var end: TraceTime
    /// The barrier's index in `SampleTrace.operations`; `UInt32.max` for a suspension.
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

    /// Nil only in a trace that `SampleTrace.check()` rejects.
    public var kind: Kind? { Kind(rawValue: rawKind) }

    public static func == (left: TracedSpan, right: TracedSpan) -> Bool {
        (left.start, left.end, left.operation, left.queue, left.rawKind)
            == (right.start, right.end, right.operation, right.queue, right.rawKind)
    }
}

/// A time in which a thread had woken up, or had more to do, and was in the run queue, between two operations. 24 bytes.
public struct TracedWait: Equatable, Sendable, BitwiseCopyable {
    public var start: TraceTime
    public var end: TraceTime
    /// An index in `SampleTrace.threads`.
    public var thread: UInt16
    private var reserved: (UInt16, UInt16, UInt16) = (0, 0, 0)

    public init(start: TraceTime, end: TraceTime, thread: UInt16) {
        (self.start, self.end, self.thread) = (start, end, thread)
    }

    public static func == (left: TracedWait, right: TracedWait) -> Bool {
        (left.start, left.end, left.thread) == (right.start, right.end, right.thread)
    }
}

/// `successor` waits for `predecessor` to end; both are indices in `SampleTrace.operations`. 8 bytes.
public struct TracedDependency: Hashable, Sendable, BitwiseCopyable {
    public var predecessor: UInt32
    public var successor: UInt32

    public init(_ predecessor: UInt32, before successor: UInt32) {
        self.predecessor = predecessor
        self.successor = successor
    }
}

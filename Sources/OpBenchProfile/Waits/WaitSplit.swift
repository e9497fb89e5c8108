/// The reason why an operation was not running. At each moment before its start, the first reason in this order that
/// holds counts.
public enum WaitReason: Int, CaseIterable, Sendable {
    /// It was not submitted yet.
    case submission
    /// It was submitted, but not ready: a dependency had not ended, or its end was not known yet.
    case dependency
    /// Its queue was suspended.
    case suspension
    /// An earlier barrier had not ended; for a barrier, an earlier operation.
    case barrier
    /// Its queue was at its limit, or all workers were busy, and the last operation started there since this one became
    /// ready has a higher priority.
    case priority
    /// Its queue was at its limit.
    case limit
    /// Every worker was busy with another operation, of any queue.
    case workers
    /// A slot was free, but its worker was between two operations: the overhead of the runtime itself.
    case handOver
    /// Nothing blocked it: the time until a worker was woken, found it and began.
    case wakeUp
    /// It had begun, but its thread had no processor.
    case processor

    public var words: String {
        switch self {
        case .submission: "not submitted"
        case .dependency: "dependency"
        case .suspension: "suspension"
        case .barrier: "barrier"
        case .priority: "priority"
        case .limit: "limit"
        case .workers: "worker busy elsewhere"
        case .handOver: "worker between operations"
        case .wakeUp: "wake-up"
        case .processor: "processor"
        }
    }
}

/// Nanoseconds of waiting by reason.
public struct WaitSplit: Equatable, Sendable {
    public var submission: Int64 = 0
    public var dependency: Int64 = 0
    public var suspension: Int64 = 0
    public var barrier: Int64 = 0
    public var priority: Int64 = 0
    public var limit: Int64 = 0
    public var workers: Int64 = 0
    public var handOver: Int64 = 0
    public var wakeUp: Int64 = 0
    public var processor: Int64 = 0

    public init() {}

    public subscript(reason: WaitReason) -> Int64 {
        get { self[keyPath: Self.path(reason)] }
        set { self[keyPath: Self.path(reason)] = newValue }
    }

    private static func path(_ reason: WaitReason) -> WritableKeyPath<WaitSplit, Int64> {
        switch reason {
        case .submission: \.submission
        case .dependency: \.dependency
        case .suspension: \.suspension
        case .barrier: \.barrier
        case .priority: \.priority
        case .limit: \.limit
        case .workers: \.workers
        case .handOver: \.handOver
        case .wakeUp: \.wakeUp
        case .processor: \.processor
        }
    }

    public var total: Int64 {
        submission + dependency + suspension + barrier + priority + limit + workers + handOver + wakeUp + processor
    }

    public static func + (left: WaitSplit, right: WaitSplit) -> WaitSplit {
        var sum = WaitSplit()
        sum.submission = left.submission + right.submission
        sum.dependency = left.dependency + right.dependency
        sum.suspension = left.suspension + right.suspension
        sum.barrier = left.barrier + right.barrier
        sum.priority = left.priority + right.priority
        sum.limit = left.limit + right.limit
        sum.workers = left.workers + right.workers
        sum.handOver = left.handOver + right.handOver
        sum.wakeUp = left.wakeUp + right.wakeUp
        sum.processor = left.processor + right.processor
        return sum
    }
}

/// Why an operation was not running. At each moment before its start one reason holds, the first in this order that does.
public enum WaitReason: Int, CaseIterable, Sendable {
    /// Nobody had submitted it.
    case submission
    /// It was submitted, and not ready: a dependency had not ended, or its end was not known yet.
    case dependency
    /// Its queue was suspended.
    case suspension
    /// A barrier that was submitted before it had not ended; of a barrier, an operation submitted before it.
    case barrier
    /// Its queue, or every worker, was occupied, and the last that had been started there since this one was ready is
    /// of a higher priority.
    case priority
    /// Its queue ran as many operations as it may.
    case limit
    /// Every worker was in another operation, of this queue or another.
    case workers
    /// A slot was free, and its worker had ended one operation and not begun the next: what the runtime itself takes.
    case handOver
    /// Nothing was in its way: the time until a worker had been woken, had found it and had begun.
    case wakeUp
    /// It had begun, and its thread had no processor.
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

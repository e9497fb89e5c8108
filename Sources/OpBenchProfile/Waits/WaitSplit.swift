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
    /// A worker was awake for it, or it had begun, but the thread was in the kernel's run queue.
    case processor
    /// A slot was free, but its worker was between two operations: the overhead of the runtime itself.
    case handOver
    /// Nothing blocked it: the time until a worker was woken, found it and began.
    case wakeUp
    /// As `wakeUp` or `processor`, in a trace that does not tell them apart.
    case wakeUpOrProcessor
    /// It had begun, and its thread slept, or waited for a lock, a file, another thread.
    case blocked
    /// As `blocked` or `processor`, in a trace that does not tell them apart.
    case blockedOrProcessor

    public var words: String {
        switch self {
        case .submission: "not submitted"
        case .dependency: "dependency"
        case .suspension: "suspension"
        case .barrier: "barrier"
        case .priority: "priority"
        case .limit: "limit"
        case .workers: "worker busy elsewhere"
        case .processor: "processor"
        case .handOver: "worker between operations"
        case .wakeUp: "wake-up"
        case .wakeUpOrProcessor: "wake-up or processor"
        case .blocked: "blocked"
        case .blockedOrProcessor: "blocked or processor"
        }
    }

    /// The word of a finding about it.
    var word: String {
        switch self {
        case .suspension: "suspended"
        case .priority, .limit: "limit"
        case .workers, .processor: "overloaded"
        case .submission, .dependency, .barrier, .handOver, .wakeUp, .wakeUpOrProcessor: "overhead"
        case .blocked, .blockedOrProcessor: "blocked"
        }
    }
}

/// Nanoseconds of waiting by reason.
public struct WaitSplit: Equatable, Sendable {
    /// By the reasons' raw values.
    private var times = InlineArray<13, Int64>(repeating: 0)

    public init() {}

    public subscript(reason: WaitReason) -> Int64 {
        get { times[reason.rawValue] }
        set { times[reason.rawValue] = newValue }
    }

    /// The reason with the longest wait; of equal ones the first.
    var greatest: WaitReason {
        WaitReason.allCases.max { (self[$0], $1.rawValue) < (self[$1], $0.rawValue) }!
    }

    public var total: Int64 { times.indices.reduce(0) { $0 + times[$1] } }

    public static func + (left: WaitSplit, right: WaitSplit) -> WaitSplit {
        var sum = left
        for index in sum.times.indices { sum.times[index] += right.times[index] }
        return sum
    }

    public static func == (left: WaitSplit, right: WaitSplit) -> Bool {
        left.times.indices.allSatisfy { left.times[$0] == right.times[$0] }
    }
}

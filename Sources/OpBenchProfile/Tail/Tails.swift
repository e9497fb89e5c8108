/// The latencies of a trace's operations and what delayed the slowest: the file `tail.json` of a profile.
///
/// A group is the operations of one class in one queue. The latency of an operation is the time from its submission to
/// its end: its waits by reason (`WaitSplit`) and its body. All times are in nanoseconds.
public struct Tails: Codable, Equatable, Sendable {
    public static let fileName = "tail.json"

    /// The title: cell and backend, or the program.
    public var title: String
    /// In the order of their 99th percentiles.
    public var groups: [Tail]
    /// First what delayed the slowest operations of all groups for the longest time.
    public var culprits: [Culprit]
    /// The number of processors that bodies ran on, on average, and the number of all.
    public var running: Double
    public var processors: Int

    /// The name for the part of a latency in which the operation's own body ran.
    public static let body = "running"
}

/// The operations of a group, and the slowest 1 % of them.
public struct Tail: Codable, Equatable, Sendable {
    /// `CLASS in QUEUE`; empty if there is one group alone.
    public var name: String
    public var operations: Int
    /// Per second, over the whole trace.
    public var rate: Double
    public var latency: Spread
    /// From submission to start.
    public var wait: Spread
    public var body: Spread
    /// The number of slow operations: 1 % of the group, rounded up, and three at least.
    public var slow: Int
    /// The sum of the slow operations' latencies.
    public var slowLatency: Int64
    /// The parts of that sum by reason, the greatest first.
    public var reasons: [NamedTime]
    /// The parts of that sum by culprit, the greatest first: those that `Tails.culprits` counts.
    public var culprits: [NamedTime]

    enum CodingKeys: String, CodingKey {
        case operations, slow, reasons, culprits
        case name = "group"
        case rate = "per_second"
        case latency = "latency_ns"
        case wait = "wait_ns"
        case body = "body_ns"
        case slowLatency = "slow_latency_ns"
    }
}

/// Percentiles, by nearest rank.
public struct Spread: Codable, Equatable, Sendable {
    public var p50, p90, p99, max: Int64
}

public struct NamedTime: Codable, Equatable, Sendable {
    public var name: String
    public var time: Int64

    public init(_ name: String, _ time: Int64) { (self.name, self.time) = (name, time) }

    enum CodingKeys: String, CodingKey {
        case name
        case time = "ns"
    }
}

/// A group, a queue or the machine that delayed the slowest 1 % of a group by a fifth of their latency, by the usual
/// work of the group or more, and three operations at least. A delay by the kernel also averages a millisecond or more.
public struct Culprit: Codable, Equatable, Sendable {
    /// The word for such causes.
    public var word: Word
    /// Its class, and what it did.
    public var name: String
    /// The time for which it delayed slow operations, how many, and of which groups.
    public var delay: Int64
    public var delayed: Int
    public var groups: [String]
    /// How often that happened: operations at fault, or times in which several waited at once.
    public var incidents: Int
    /// The number of operations of the group at fault; nil for a queue or the machine.
    public var runs: Int?
    /// The two incidents that delayed most.
    public var clearest: [Incident]

    /// The name where threads waited for a processor.
    static let noProcessor = "no processor was free"

    public enum Word: String, Codable, Sendable {
        case blocked, stragglers, limit, suspended, overloaded, overhead
    }
}

/// One time that a culprit delayed slow operations.
public struct Incident: Codable, Equatable, Sendable {
    /// Nil for a queue or the machine.
    public var culprit: SlowOperation?
    public var delay: Int64
    public var delayed: Int
    /// The one that it delayed longest.
    public var victim: SlowOperation
}

/// The timeline of one operation. Times are nanoseconds since the start mark, as in the trace's other files.
public struct SlowOperation: Codable, Equatable, Sendable {
    /// Its number in the trace and the plan.
    public var operation: Int
    public var name: String
    public var thread: String?
    public var submit: Int64
    public var ready: Int64
    public var start: Int64
    public var end: Int64
    /// The parts of its latency, the greatest first.
    public var reasons: [NamedTime]

    enum CodingKeys: String, CodingKey {
        case operation, thread, reasons
        case name = "group"
        case submit = "submit_ns"
        case ready = "ready_ns"
        case start = "start_ns"
        case end = "end_ns"
    }
}

/// The slowest 1 % of the operations of each class, and why they were slow: the file `tail.json` of a profile.
///
/// The latency of an operation is the time from its submission to its end. It is the sum of its waits by reason
/// (`WaitSplit`) and its body. All times are in nanoseconds.
public struct Tails: Codable, Equatable, Sendable {
    public static let fileName = "tail.json"

    /// The title: cell and backend.
    public var title: String
    /// The classes with executed operations, in the trace's order.
    public var classes: [Tail]

    /// The name for the part of a latency in the operation's own body.
    public static let body = "own body"
}

/// The slowest operations of one class.
public struct Tail: Codable, Equatable, Sendable {
    /// The class; empty if the operations have no classes.
    public var operationClass: String
    /// The number of executed operations of the class.
    public var operations: Int
    /// The lower median of their latencies.
    public var median: Int64
    /// The number of slow operations: 1 % of the class, rounded up.
    public var slow: Int
    /// The sum of the slow operations' latencies.
    public var latency: Int64
    /// The parts of that sum by reason, the greatest first.
    public var reasons: [NamedTime]
    /// The causes of at least `leastShare` of that sum, the greatest first.
    public var culprits: [Culprit]
    /// The slowest operations, at most `mostTimelines`.
    public var slowest: [SlowOperation]

    /// The number of timelines of a class.
    public static let mostTimelines = 10
    /// The number of culprits of a class.
    public static let mostCulprits = 5
    /// The least part of the slow operations' latency that makes a culprit.
    public static let leastShare = 0.05

    enum CodingKeys: String, CodingKey {
        case operations, slow, reasons, culprits, slowest
        case operationClass = "class"
        case median = "median_ns"
        case latency = "latency_ns"
    }
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

/// An operation, a worker or a queue that slow operations waited for.
public struct Culprit: Codable, Equatable, Sendable {
    /// `operation 417`, `engine normal 2`, `queue 1`.
    public var name: String
    /// An operation's class, `worker` or `queue`.
    public var kind: String
    /// The thread that executed the operation.
    public var thread: String?
    /// The operation's time from start to end, the worker's longest delay, the queue's longest suspension of a slow
    /// operation.
    public var took: Int64
    /// The parts of an operation's time without a processor.
    public var waits: [NamedTime] = []
    /// The reason of most of the delay.
    public var reason: String
    /// The part of the slow operations' latency for which it is the cause.
    public var delay: Int64
    /// The number of operations that it delayed.
    public var delayed: Int
    /// A worker's wake-up in words, if the trace has it.
    public var note: String?

    enum CodingKeys: String, CodingKey {
        case name, kind, thread, waits, reason, delayed, note
        case took = "took_ns"
        case delay = "delay_ns"
    }
}

/// The timeline of one operation. Times are nanoseconds since the start mark, as in the trace's other files.
public struct SlowOperation: Codable, Equatable, Sendable {
    /// Its number in the trace and the plan.
    public var operation: Int
    public var thread: String?
    public var submit: Int64
    public var ready: Int64
    /// The earliest time at which its worker could take it: it was ready, and the worker awake and done with the
    /// operation before.
    public var chosen: Int64
    public var start: Int64
    public var end: Int64
    /// The parts of its latency, the greatest first.
    public var reasons: [NamedTime]
    /// The name of its greatest culprit.
    public var culprit: String?
    /// The longest occupations of its worker from its submission until it was chosen.
    public var meanwhile: [NamedTime]

    enum CodingKeys: String, CodingKey {
        case operation, thread, reasons, culprit, meanwhile
        case submit = "submit_ns"
        case ready = "ready_ns"
        case chosen = "chosen_ns"
        case start = "start_ns"
        case end = "end_ns"
    }
}

// MARK: - From a trace

extension Tails {
    /// - Parameters:
    ///   - trace: a trace that passes `SampleTrace.check()`.
    ///   - waits: the waits of the same trace.
    public init(_ trace: SampleTrace, _ graph: OperationGraph, _ waits: WaitAnalysis) {
        title = trace.title
        let executed = trace.operations.indices.filter { trace.operations[$0].wasExecuted }
        let byClass = Dictionary(grouping: executed) { trace.operations[$0].operationClass }
        let members = byClass.keys.sorted().map { key in
            byClass[key]!.sorted { (trace.latency(of: $1), $0) < (trace.latency(of: $0), $1) }
        }
        let slow = members.map { Array($0.prefix(($0.count + 99) / 100)) }
        let timelines = WorkerTimelines(trace)
        let blame = TailBlame(trace, graph, waits, timelines, of: slow)
        classes = members.indices.map { place in
            Tail(
                trace, waits, members[place], slow: slow[place], blame.charges[place], timelines,
                isNamed: members.count > 1)
        }
    }
}

extension Tail {
    /// - Parameters:
    ///   - members: the executed operations of the class, the slowest first.
    ///   - slow: the first of them.
    ///   - isNamed: whether there are other classes.
    fileprivate init(
        _ trace: SampleTrace, _ waits: WaitAnalysis, _ members: [Int], slow: [Int], _ charges: [TailBlame.Charge],
        _ timelines: WorkerTimelines, isNamed: Bool
    ) {
        operationClass = isNamed ? trace.className(of: trace.operations[members[0]]) : ""
        operations = members.count
        median = trace.latency(of: members[members.count / 2])
        self.slow = slow.count
        latency = slow.reduce(0) { $0 + trace.latency(of: $1) }
        let total = slow.reduce(WaitSplit()) { $0 + waits.splits[$1] }
        reasons = NamedTime.parts(of: total, body: slow.reduce(0) { $0 + trace.operations[$1].ownTime })
        culprits = Self.culprits(trace, charges, of: latency, timelines)
        let ofVictim = Dictionary(grouping: charges, by: \.victim)
        slowest = slow.prefix(Self.mostTimelines).map { index in
            let own = ofVictim[index] ?? []
            let greatest = own.max { ($0.time, $1.suspect) < ($1.time, $0.suspect) }
            return timelines.timeline(
                of: index, waits.splits[index], culprit: greatest.map { timelines.name(of: $0.suspect) })
        }
    }

    private static func culprits(
        _ trace: SampleTrace, _ charges: [TailBlame.Charge], of latency: Int64, _ timelines: WorkerTimelines
    ) -> [Culprit] {
        let least = Double(latency) * leastShare
        let sums = Dictionary(grouping: charges, by: \.suspect).map { suspect, charges in
            (suspect: suspect, charges: charges, delay: charges.reduce(0) { $0 + $1.time })
        }
        let greatest = sums.filter { Double($0.delay) >= least && $0.delay > 0 }
            .sorted { ($1.delay, $0.suspect) < ($0.delay, $1.suspect) }
            .prefix(mostCulprits)
        return greatest.map { suspect, charges, delay in
            let byReason = Dictionary(grouping: charges, by: \.reason).mapValues { $0.reduce(0) { $0 + $1.time } }
            let reason = byReason.max { ($0.value, $1.key) < ($1.value, $0.key) }
            let longest = charges.max { ($0.time, $1.victim) < ($1.time, $0.victim) }
            var culprit = Culprit(
                name: timelines.name(of: suspect), kind: "", took: longest?.time ?? 0, reason: reason?.key ?? "",
                delay: delay, delayed: Set(charges.map(\.victim)).count)
            switch suspect {
            case .operation(let index):
                let operation = trace.operations[index]
                culprit.kind = trace.className(of: operation)
                culprit.thread = timelines.threadName(operation.worker)
                (culprit.took, culprit.waits) = (operation.elapsed, NamedTime.parts(of: operation.bodyWaits))
            case .worker(let thread):
                culprit.kind = "worker"
                culprit.note = longest.flatMap { timelines.wakeUp(of: thread, for: $0.victim) }
            case .queue: culprit.kind = "queue"
            }
            return culprit
        }
    }
}

extension SampleTrace {
    /// The time from an executed operation's submission to its end.
    func latency(of operation: Int) -> Int64 { operations[operation].end - operations[operation].submit }
}

extension NamedTime {
    /// The parts of a latency that are not 0, the greatest first.
    static func parts(of split: WaitSplit, body: Int64 = 0) -> [NamedTime] {
        let parts = WaitReason.allCases.map { NamedTime($0.words, split[$0]) } + [NamedTime(Tails.body, body)]
        return parts.enumerated().filter { $0.element.time > 0 }
            .sorted { ($1.element.time, $0.offset) < ($0.element.time, $1.offset) }.map(\.element)
    }
}

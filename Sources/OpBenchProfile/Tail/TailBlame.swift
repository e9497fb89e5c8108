/// The causes of slow operations' latencies.
///
/// Times of waits come from `WaitAnalysis`: an operation's wait while another one ran is the difference of two of its
/// answers. Several operations that occupy a queue's slots at once are each the cause of the whole wait.
struct TailBlame {
    enum Suspect: Hashable, Comparable {
        case operation(Int)
        /// An index in `SampleTrace.threads`.
        case worker(UInt16)
        case queue(UInt16)
    }

    /// The part of a slow operation's latency for which a suspect is the cause.
    struct Charge: Equatable {
        var victim: Int
        var suspect: Suspect
        /// Words of a `WaitReason`, or `Tails.body`.
        var reason: String
        /// In nanoseconds.
        var time: Int64
    }

    /// For each list of slow operations, in its order.
    private(set) var charges: [[Charge]]

    private let trace: SampleTrace
    private let waits: WaitAnalysis
    private let timelines: WorkerTimelines
    private let bodies: BodyWaits

    /// - Parameters:
    ///   - trace: a trace that passes `SampleTrace.check()`.
    ///   - victims: lists of executed operations.
    init(
        _ trace: SampleTrace, _ graph: OperationGraph, _ waits: WaitAnalysis, _ timelines: WorkerTimelines,
        of victims: [[Int]]
    ) {
        (self.trace, self.waits, self.timelines, bodies) = (trace, waits, timelines, BodyWaits(trace))
        charges = victims.map { _ in [] }
        var chains = Chains(trace, graph)
        for (list, members) in victims.enumerated() {
            for victim in members { charge(victim, list, &chains) }
        }
        chargeOccupants(of: victims)
    }

    private mutating func add(_ list: Int, _ victim: Int, _ suspect: Suspect, _ reason: String, _ time: Int64) {
        if time > 0 { charges[list].append(Charge(victim: victim, suspect: suspect, reason: reason, time: time)) }
    }

    /// Everything except waits for a slot or a worker.
    private mutating func charge(_ victim: Int, _ list: Int, _ chains: inout Chains) {
        let (operation, split) = (trace.operations[victim], waits.splits[victim])
        add(list, victim, .operation(victim), Tails.body, operation.ownTime)
        let reason = operation.processorWait == .absent ? WaitReason.blockedOrProcessor : .blocked
        let holder = bodies.holder(of: victim)
        let held = holder.map { min(bodies.overlap($0, victim), operation.blocked) } ?? 0
        if let holder { add(list, victim, .operation(holder), reason.words, held) }
        add(list, victim, .operation(victim), reason.words, operation.blocked - held)
        if split[.dependency] + split[.barrier] > 0 {
            let reason = split[.barrier] > split[.dependency] ? WaitReason.barrier : .dependency
            for (predecessor, time) in chains.predecessors(of: victim) {
                add(list, victim, .operation(bodies.cause(of: predecessor)), reason.words, time)
            }
        }
        add(list, victim, .queue(operation.queue), WaitReason.suspension.words, split[.suspension])
        let beforeStart = split[.processor] - operation.knownProcessorWait
        let late = [(WaitReason.processor, beforeStart)] + [.wakeUp, .wakeUpOrProcessor].map { ($0, split[$0]) }
        if late.contains(where: { $0.1 > 0 }), let worker = timelines.lateWorker(for: victim) {
            for (reason, time) in late { add(list, victim, .worker(worker), reason.words, time) }
        }
    }

    // MARK: Slots and workers

    /// The number of operations per list that are examined as occupants of slots or workers.
    private static let mostOccupants = 16

    private mutating func chargeOccupants(of victims: [[Int]]) {
        let operations = trace.operations
        let executed = operations.indices.filter { operations[$0].wasExecuted }
        var pairs: [(list: Int, victim: Int, occupant: Int)] = []
        var queries: [WaitAnalysis.Query] = []
        for (list, members) in victims.enumerated() {
            let waiting = members.filter {
                let split = waits.splits[$0]
                return split[.limit] + split[.priority] + split[.workers] > 0
            }
            for occupant in occupants(of: waiting, among: executed) {
                let times = (operations[occupant].start, operations[occupant].end)
                for victim in waiting where victim != occupant {
                    let own = operations[victim]
                    let from = max(own.ready, min(times.0, own.start))
                    let to = max(own.ready, min(times.1, own.start))
                    guard from < to else { continue }
                    pairs.append((list, victim, occupant))
                    queries.append(WaitAnalysis.Query(operation: victim, from: from))
                    queries.append(WaitAnalysis.Query(operation: victim, from: to))
                }
            }
        }
        let splits = WaitAnalysis.splits(trace, queries)
        for (index, pair) in pairs.enumerated() {
            let (before, after) = (splits[2 * index], splits[2 * index + 1])
            let (victim, occupant) = (pair.victim, pair.occupant)
            for reason in [WaitReason.limit, .priority, .workers] where mayWait(victim, for: occupant, reason) {
                add(pair.list, victim, .operation(occupant), reason.words, before[reason] - after[reason])
            }
        }
    }

    /// Only operations of its own queue fill the victim's slots; all operations occupy workers.
    private func mayWait(_ victim: Int, for occupant: Int, _ reason: WaitReason) -> Bool {
        let queue = trace.operations[victim].queue
        if trace.operations[occupant].queue == queue { return true }
        return switch reason {
        case .workers: true
        case .priority: trace.queues[Int(queue)].limit == nil
        default: false
        }
    }

    /// The operations that ran for the longest time while victims waited, summed over the victims.
    private func occupants(of waiting: [Int], among executed: [Int]) -> [Int] {
        let operations = trace.operations
        // The number of waiting victims over time, and its sum up to each point.
        let points = TraceCounter(
            "", up: waiting.map { operations[$0].ready }, down: waiting.map { operations[$0].start }
        ).points
        guard !points.isEmpty else { return [] }
        var sums: [Int64] = [0]
        for (point, next) in zip(points, points.dropFirst()) {
            sums.append(sums[sums.count - 1] + point.value * (next.time - point.time))
        }
        func sum(until time: TraceTime) -> Int64 {
            guard let place = points.lastIndex(upTo: time, by: \.time) else { return 0 }
            return sums[place] + points[place].value * (time - points[place].time)
        }
        let scores = executed.compactMap { index -> (score: Int64, index: Int)? in
            let score = sum(until: operations[index].end) - sum(until: operations[index].start)
            return score > 0 ? (score: score, index: index) : nil
        }
        let greatest = scores.sorted { ($1.score, $0.index) < ($0.score, $1.index) }.prefix(Self.mostOccupants)
        return Set(greatest.map { bodies.cause(of: $0.index) }).sorted()
    }
}

/// Chains of predecessors that operations waited for.
private struct Chains {
    private let operations: [TracedOperation]
    private let graph: OperationGraph
    private var known: [Int: Int?] = [:]

    /// The number of predecessors that are followed.
    private static let mostSteps = 64

    init(_ trace: SampleTrace, _ graph: OperationGraph) { (operations, self.graph) = (trace.operations, graph) }

    /// The predecessor that ended last, the one that this one waited for, and so on, each with its body's time after
    /// the operation's submission.
    mutating func predecessors(of operation: Int) -> [(operation: Int, time: Int64)] {
        let submit = operations[operation].submit
        var chain: [(operation: Int, time: Int64)] = []
        var (current, until) = (operation, operations[operation].start)
        while chain.count < Self.mostSteps, let last = lastPredecessor(of: current), operations[last].end > submit {
            let time = min(operations[last].end, until) - max(operations[last].start, submit)
            if time > 0 { chain.append((last, time)) }
            (current, until) = (last, min(until, operations[last].start))
            if until <= submit || time <= 0 { break }
        }
        return chain
    }

    private mutating func lastPredecessor(of operation: Int) -> Int? {
        if let last = known[operation] { return last }
        let last = graph.predecessors(of: operation).map { Int($0) }.filter { operations[$0].wasExecuted }
            .max { (operations[$0].end, $1) < (operations[$1].end, $0) }
        known.updateValue(last, forKey: operation)
        return last
    }
}

/// Operations whose bodies waited for the end of another one's: for a lock that it held, for example.
///
/// A blocked body waited for another operation if that one was in its body before this one could have run to its end,
/// for half of the wait or more, took at least twice the time that the waiting body itself needed, and ended first.
/// Bodies that sleep, or wait for something outside of the trace, have no such operation. In a trace that does not tell
/// waits for a processor, preempted bodies count as blocked.
struct BodyWaits {
    private let operations: [TracedOperation]
    /// Operations that take long enough, by their ends.
    private let byEnd: [(end: TraceTime, index: Int)]

    /// A body that is blocked for a shorter time has no other culprit. In nanoseconds.
    static let leastWait: Int64 = 10_000
    /// The number of operations that pass a lock on, one to the other.
    private static let mostSteps = 64

    init(_ trace: SampleTrace) {
        operations = trace.operations
        byEnd = trace.operations.enumerated()
            .filter { $0.element.wasExecuted && $0.element.elapsed >= Self.leastWait / 2 }
            .map { (end: $0.element.end, index: $0.offset) }.sorted { ($0.end, $0.index) < ($1.end, $1.index) }
    }

    /// The time for which two bodies were in progress at once.
    func overlap(_ one: Int, _ other: Int) -> Int64 {
        max(
            0,
            min(operations[one].end, operations[other].end) - max(operations[one].start, operations[other].start))
    }

    /// The operation that this one's body waited for; nil if there is none.
    func holder(of operation: Int) -> Int? {
        guard operations[operation].blocked >= Self.leastWait else { return nil }
        return direct(operation).map { cause(of: $0) }
    }

    /// The operation that this one waited for, if that was most of its body; otherwise itself.
    func cause(of operation: Int) -> Int {
        var cause = operation
        for _ in 0..<Self.mostSteps {
            let body = operations[cause]
            guard body.blocked >= Self.leastWait, 2 * body.blocked >= body.elapsed, let next = direct(cause)
            else { break }
            cause = next
        }
        return cause
    }

    /// The first end counts: a lock that its holder gives up is passed on from one waiting body to the next.
    private func direct(_ operation: Int) -> Int? {
        let body = operations[operation]
        // It runs on after the wait, perhaps by way of the run queue.
        let earliest = body.end - body.ownTime - body.knownProcessorWait - body.blocked / 2
        var place = byEnd.lastIndex(upTo: earliest - 1, by: \.end).map { $0 + 1 } ?? 0
        while place < byEnd.count, byEnd[place].end <= body.end {
            let (end, index) = byEnd[place]
            place += 1
            // Of bodies that end together, the one that started first.
            guard index != operation, end < body.end || operations[index].start < body.start else { continue }
            let other = operations[index]
            let isLong = other.elapsed >= 2 * body.ownTime && other.start <= body.start + body.ownTime
            if isLong, 2 * overlap(index, operation) >= body.blocked { return index }
        }
        return nil
    }
}

extension Array {
    /// The index of the last element that is not above a limit; nil if there is none.
    ///
    /// - Parameter key: the elements are sorted by it.
    func lastIndex<Key: Comparable>(upTo limit: Key, by key: (Element) -> Key) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if key(self[middle]) <= limit { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }
}

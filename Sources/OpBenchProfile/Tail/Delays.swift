/// The cause of a delay: a class of operations, a queue or the machine, never a single operation.
struct Cause: Hashable, Comparable {
    enum Kind: String, Codable, Sendable {
        /// Bodies that others were blocked by, likely.
        case holder
        /// Bodies that were blocked by nothing that is known, and perhaps others with them.
        case blocked
        /// Bodies that ran.
        case running
        case limit, suspension, workers
        /// The kernel: a thread waited for a processor, or for its wake-up.
        case processors, wakeUps
        /// The way from ready to start, and from one operation to what depends on it.
        case engine

        /// Whether it is the operations' own work, some of which is usual.
        var isWork: Bool { self == .blocked || self == .running }
        var isKernel: Bool { self == .processors || self == .wakeUps }
    }

    var kind: Kind
    /// The number of a group, or of a queue.
    var place = 0

    static func < (left: Cause, right: Cause) -> Bool {
        (left.kind.rawValue, left.place) < (right.kind.rawValue, right.place)
    }
}

/// The causes of operations' latencies, for each nanosecond from submission to end.
///
/// A wait for a dependency is the life of the predecessor that ended last: its own waits, and its body. A wait for a slot
/// or a worker belongs to the bodies that took unusually long meanwhile, by their parts of the slots' time, and the rest
/// to the limit, except for the part of their time that bodies waited for a processor. A body's time is running, waiting
/// for a processor, and blocked, which is its holder's if it has one.
struct Delays {
    struct Charge {
        var cause: Cause
        var victim: Int
        /// The operation at fault; nil for a queue or the machine.
        var culprit: Int?
        /// In nanoseconds.
        var time: Double
    }

    private let trace: SampleTrace
    private let graph: OperationGraph
    private let waits: WaitAnalysis
    private let groups: [Int]
    let holders: Holders
    private let longOfQueue: [UInt16: LongBodies]
    private let long: LongBodies

    /// The number of predecessors that one latency is followed through.
    private static let mostSteps = 64

    init(_ trace: SampleTrace, _ graph: OperationGraph, _ waits: WaitAnalysis, groups: [Int], members: [[Int]]) {
        (self.trace, self.graph, self.waits, self.groups) = (trace, graph, waits, groups)
        holders = Holders(trace, groups: groups, members: members)
        let executed = trace.operations.indices.filter { trace.operations[$0].wasExecuted }
        long = LongBodies(trace, executed, holders)
        longOfQueue = Dictionary(grouping: executed) { trace.operations[$0].queue }
            .mapValues { [holders] in LongBodies(trace, $0, holders) }
    }

    /// - Parameter victim: an executed operation.
    func charges(of victim: Int) -> [Charge] {
        var list = ChargeList(victim: victim)
        var (current, from) = (victim, trace.operations[victim].submit)
        for _ in 0..<Self.mostSteps {
            let operation = trace.operations[current]
            addWaits(of: current, from: from, to: &list)
            addBody(of: current, Double(operation.end - max(operation.start, from)), to: &list)
            guard let last = lastPredecessor(of: current, after: from, until: operation.ready) else { break }
            list.add(Cause(kind: .engine), Double(operation.ready - trace.operations[last].end))
            (current, from) = (last, max(from, trace.operations[last].submit))
        }
        return list.charges
    }

    /// The predecessor that ended last, if that was in this time.
    private func lastPredecessor(of index: Int, after begin: TraceTime, until end: TraceTime) -> Int? {
        graph.predecessors(of: index).map { Int($0) }.filter {
            let other = trace.operations[$0]
            return other.wasExecuted && begin < other.end && other.end <= end
        }.max { (trace.operations[$0].end, $1) < (trace.operations[$1].end, $0) }
    }

    /// The waits from ready to start, as far as they are after an instant.
    private func addWaits(of index: Int, from: TraceTime, to list: inout ChargeList) {
        let (operation, split) = (trace.operations[index], waits.splits[index])
        let begin = max(operation.ready, from)
        guard begin < operation.start else { return }
        let part = Double(operation.start - begin) / Double(operation.start - operation.ready)
        func time(_ reason: WaitReason) -> Double { part * Double(split[reason]) }
        let limit = trace.queues[Int(operation.queue)].limit
        let ofQueue = Cause(kind: .limit, place: Int(operation.queue))
        addSlots(time(.limit) + (limit == nil ? 0 : time(.priority)), ofQueue, index, begin, to: &list)
        addSlots(
            time(.workers) + (limit == nil ? time(.priority) : 0), Cause(kind: .workers), index, begin, to: &list)
        list.add(Cause(kind: .suspension, place: Int(operation.queue)), time(.suspension))
        list.add(Cause(kind: .processors), part * Double(split[.processor] - operation.knownProcessorWait))
        list.add(Cause(kind: .wakeUps), time(.wakeUp) + time(.wakeUpOrProcessor))
        list.add(Cause(kind: .engine), time(.handOver))
        if split[.barrier] > 0, let last = lastPredecessor(of: index, after: begin, until: operation.start) {
            addBody(of: last, time(.barrier), to: &list)
        }
    }

    private func addSlots(
        _ time: Double, _ cause: Cause, _ index: Int, _ begin: TraceTime, to list: inout ChargeList
    ) {
        guard time > 0 else { return }
        let operation = trace.operations[index]
        let (bodies, slots) =
            cause.kind == .limit
            ? (longOfQueue[operation.queue], trace.queues[Int(operation.queue)].limit ?? 1) : (long, trace.workerCount)
        let found = bodies?.during(begin, operation.start) ?? []
        let all = max(found.reduce(0) { $0 + $1.time }, Int64(slots) * (operation.start - begin))
        var rest = time
        for body in found where body.index != index {
            let part = time * Double(body.time) / Double(all)
            addBody(of: body.index, part, to: &list)
            rest -= part
        }
        let waiting = (bodies?.waitingPart ?? 0) * rest
        list.add(Cause(kind: .processors), waiting)
        list.add(cause, rest - waiting)
    }

    /// A part of a body, by what it did in the whole.
    private func addBody(of index: Int, _ time: Double, to list: inout ChargeList) {
        let operation = trace.operations[index]
        guard time > 0, operation.elapsed > 0 else { return }
        let part = time / Double(operation.elapsed)
        list.add(Cause(kind: .running, place: groups[index]), part * Double(operation.ownTime), by: index)
        list.add(Cause(kind: .processors), part * Double(operation.knownProcessorWait))
        let (blocked, holder) = (part * Double(operation.blocked), Int(holders.holder[index]))
        guard holder != Int(Holders.none) else {
            return list.add(Cause(kind: .blocked, place: groups[index]), blocked, by: index)
        }
        // The holder itself may have waited for a processor; or, if it was blocked for unusually long, with the others
        // for what no operation holds.
        let holding = trace.operations[holder]
        let waiting = Double(holding.knownProcessorWait) / Double(max(1, holding.elapsed))
        list.add(Cause(kind: .processors), blocked * waiting)
        let kind = holders.isLate[holder] ? Cause.Kind.blocked : .holder
        list.add(Cause(kind: kind, place: groups[holder]), blocked * (1 - waiting), by: holder)
    }
}

private struct ChargeList {
    let victim: Int
    private(set) var charges: [Delays.Charge] = []

    init(victim: Int) { self.victim = victim }

    mutating func add(_ cause: Cause, _ time: Double, by culprit: Int? = nil) {
        if time > 0 { charges.append(Delays.Charge(cause: cause, victim: victim, culprit: culprit, time: time)) }
    }
}

/// Bodies that occupy slots or workers for at least four times as long as half of them do, or were blocked by a holder.
private struct LongBodies {
    /// The part of the time of all bodies in which they waited for a processor.
    let waitingPart: Double
    private let bodies: [(index: Int, start: TraceTime, end: TraceTime)]
    /// The latest end of each body and those before it.
    private let latestEnds: [TraceTime]

    private static let unusual: Int64 = 4

    init(_ trace: SampleTrace, _ members: [Int], _ holders: Holders) {
        let all = members.map { trace.operations[$0] }
        let elapsed = all.reduce(0.0) { $0 + Double($1.elapsed) }
        waitingPart = all.reduce(0.0) { $0 + Double($1.knownProcessorWait) } / max(1, elapsed)
        let least = max(1, Self.unusual * median(of: all.map(\.elapsed)))
        bodies = members.filter { trace.operations[$0].elapsed >= least || holders.holder[$0] != Holders.none }
            .map { ($0, trace.operations[$0].start, trace.operations[$0].end) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }
        var latest = TraceTime.min
        latestEnds = bodies.map { body in
            latest = max(latest, body.end)
            return latest
        }
    }

    /// The bodies in a range, each with its time in it.
    func during(_ from: TraceTime, _ to: TraceTime) -> [(index: Int, time: Int64)] {
        var found: [(index: Int, time: Int64)] = []
        var place = bodies.partition { $0.start >= to }
        while place > 0, latestEnds[place - 1] > from {
            place -= 1
            let time = min(bodies[place].end, to) - max(bodies[place].start, from)
            if time > 0 { found.append((bodies[place].index, time)) }
        }
        return found
    }
}

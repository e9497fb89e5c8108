/// Where a queue started an operation while one of a higher priority was ready there.
///
/// Priorities are a wish, and two clocks are not one: an operation that another became ready beside, within
/// `tolerance`, was chosen rightly. What is ready in a suspended queue, or behind a barrier, could not be taken and is
/// no victim.
public struct PriorityInversions: Equatable, Sendable {
    public struct Inversion: Equatable, Sendable {
        /// What was started, by its place in the trace.
        public var culprit: Int
        /// Of the highest priority that was ready, and there what was ready for longest.
        public var victim: Int
        /// The culprit's start.
        public var time: TraceTime
        /// How long the victim had been ready.
        public var waited: Int64
        /// How long the culprit kept it from starting: up to the culprit's end or the victim's start.
        public var delay: Int64
    }

    /// One for each culprit, in order of time.
    public let inversions: [Inversion]
    /// How many operations were started.
    public let starts: Int

    /// The sum of all delays in nanoseconds; what was delayed by two culprits at once counts twice.
    public var delay: Int64 { inversions.reduce(0) { $0 + $1.delay } }
    public var worst: Inversion? { inversions.max { ($0.delay, $1.culprit) < ($1.delay, $0.culprit) } }

    /// - Parameters:
    ///   - trace: one that `SampleTrace.check()` takes.
    ///   - tolerance: in nanoseconds.
    public init(_ trace: SampleTrace, tolerance: Int64 = 0) {
        let executed = trace.operations.indices.filter { trace.operations[$0].wasExecuted }
        starts = executed.count
        let barriers = WaitAnalysis.barrierEnds(trace)
        var found: [Inversion] = []
        var isStarted = trace.operations.map { _ in false }
        for (_, members) in Dictionary(grouping: executed, by: { trace.operations[$0].queue })
        where Set(members.lazy.map { trace.operations[$0].priority }).count > 1 {
            found += Self.inversions(in: trace, members, barriers, tolerance, &isStarted)
        }
        inversions = found.sorted { ($0.time, $0.culprit) < ($1.time, $1.culprit) }
    }

    private static func inversions(
        in trace: SampleTrace, _ members: [Int], _ barriers: [UInt32: TraceTime], _ tolerance: Int64,
        _ isStarted: inout [Bool]
    ) -> [Inversion] {
        let operations = trace.operations
        /// When it could have been started, for all that the queue let: ready, and behind the barriers before it.
        func takeable(_ index: Int) -> TraceTime {
            max(operations[index].ready, barriers[UInt32(index)] ?? .min)
        }
        let suspensions = Suspensions(trace, queue: operations[members[0]].queue)
        let byReady = members.map { (time: takeable($0), index: $0) }.sorted { $0 < $1 }
        let byStart = members.sorted { (operations[$0].start, $0) < (operations[$1].start, $1) }
        // Of each priority, what is ready, first come first; what was started since is dropped when it is met.
        var waiting: [Int8: (members: [Int], next: Int)] = [:]
        var priorities: [Int8] = []
        var next = 0
        var found: [Inversion] = []
        for culprit in byStart {
            let start = operations[culprit].start
            isStarted[culprit] = true
            while next < byReady.count, byReady[next].time < start - tolerance {
                let index = byReady[next].index
                next += 1
                if isStarted[index] { continue }
                let priority = operations[index].priority
                if waiting[priority] == nil {
                    priorities.append(priority)
                    priorities.sort(by: >)
                }
                waiting[priority, default: ([], 0)].members.append(index)
            }
            for priority in priorities where priority > operations[culprit].priority {
                guard let victim = first(&waiting[priority]!, isStarted) else { continue }
                let since = takeable(victim)
                if suspensions.holds(at: start) { break }
                let end = min(operations[culprit].end, operations[victim].start)
                found.append(
                    Inversion(
                        culprit: culprit, victim: victim, time: start, waited: start - since, delay: end - start))
                break
            }
        }
        return found
    }

    private static func first(_ waiting: inout (members: [Int], next: Int), _ isStarted: [Bool]) -> Int? {
        while waiting.next < waiting.members.count, isStarted[waiting.members[waiting.next]] {
            waiting.next += 1
        }
        return waiting.next < waiting.members.count ? waiting.members[waiting.next] : nil
    }
}

/// When a queue was suspended.
struct Suspensions {
    /// In order, without overlaps.
    private var spans: [(start: TraceTime, end: TraceTime)] = []

    init(_ trace: SampleTrace, queue: UInt16) {
        let own = trace.spans.filter { $0.kind == .suspension && $0.queue == queue }.sorted { $0.start < $1.start }
        for span in own {
            if let last = spans.last, span.start <= last.end {
                spans[spans.count - 1].end = max(last.end, span.end)
            } else {
                spans.append((span.start, span.end))
            }
        }
    }

    func holds(at time: TraceTime) -> Bool {
        guard let place = place(time) else { return false }
        return time < spans[place].end
    }

    private func place(_ time: TraceTime) -> Int? {
        var (low, high) = (0, spans.count)
        while low < high {
            let middle = (low + high) / 2
            if spans[middle].start <= time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }
}

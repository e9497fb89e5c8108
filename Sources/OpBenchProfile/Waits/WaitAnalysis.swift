/// Splits operations' waits by reason, exactly: the parts of each wait add up to it.
///
/// For each priority and queue, the time of every reason is accumulated once, from the beginning of the trace to each
/// event; a wait is then the difference of two sums. O(n log n) for each priority that occurs.
public struct WaitAnalysis: Sendable {
    /// For each operation, the waits from its submission to its end; zero if it was not executed.
    public let splits: [WaitSplit]
    /// The sum over all operations.
    public let total: WaitSplit
    /// The cost of handing over a ready operation, as the lower median over all executed operations. It is the sum of
    /// two times: from the last predecessor's end, or the submission if that was later, to ready; and the last stretch
    /// before the start, since its worker ended another operation, limited to its hand-over and wake-up times. The
    /// burden of `WorkSpan`.
    public let burden: Int64

    /// - Parameter trace: a trace that passes `SampleTrace.check()`.
    public init(_ trace: SampleTrace, _ graph: OperationGraph) {
        let executed = trace.operations.indices.filter { trace.operations[$0].wasExecuted }
        let answers = Self.splits(
            trace, executed.map { Query(operation: $0, from: trace.operations[$0].submit) })
        var splits = [WaitSplit](repeating: WaitSplit(), count: trace.operations.count)
        for (operation, split) in zip(executed, answers) {
            splits[operation] = split + trace.operations[operation].bodyWaits
        }
        self.splits = splits
        total = splits.reduce(WaitSplit(), +)

        let gaps = WorkerGaps(trace)
        let burdens = executed.map { index in
            let operation = trace.operations[index]
            let released = graph.predecessors(of: index).reduce(operation.submit) { latest, predecessor in
                let end = trace.operations[Int(predecessor)].end
                return end == .absent ? latest : max(latest, end)
            }
            let stretch = operation.start - max(operation.ready, gaps.previousEnds[index])
            let split = splits[index]
            let way = split[.handOver] + split[.wakeUp] + split[.wakeUpOrProcessor]
            return max(0, operation.ready - released) + max(0, min(stretch, way))
        }
        burden = median(of: burdens)
    }

    struct Query {
        var operation: Int
        /// The beginning of its wait: at its start or before.
        var from: TraceTime
    }

    /// The waits before the operations' starts.
    ///
    /// - Parameter queries: queries about executed operations.
    static func splits(_ trace: SampleTrace, _ queries: [Query]) -> [WaitSplit] {
        let gaps = WorkerGaps(trace)
        // Computed again as if a worker that continues with another operation were still in the previous one: what
        // still needs a wake-up then is a real wake-up, and the rest is the hand-over.
        let held = splits(trace, queries, until: gaps.heldUntil)
        return zip(splits(trace, queries, until: trace.operations.map(\.end)), held).map { split, held in
            var split = split
            split[.handOver] = split[.wakeUp] - held[.wakeUp]
            split[.wakeUp] = 0
            split[trace.waits == nil ? .wakeUpOrProcessor : .wakeUp] = held[.wakeUp]
            return split
        }
    }

    /// - Parameter ends: the time until which each operation occupies its worker and its queue.
    private static func splits(_ trace: SampleTrace, _ queries: [Query], until ends: [TraceTime]) -> [WaitSplit] {
        var answers = [WaitSplit](repeating: WaitSplit(), count: queries.count)
        let events = Events(trace, ends)
        let barriers = barrierEnds(trace)
        let byPriority = Dictionary(grouping: queries.indices) { trace.operations[queries[$0].operation].priority }
        for (priority, indices) in byPriority {
            let workers = WorkersTimeline(events.all, workers: trace.workerCount, priority: priority)
            let byQueue = Dictionary(grouping: indices) { trace.operations[queries[$0].operation].queue }
            for (queue, indices) in byQueue {
                let timeline = QueueTimeline(
                    events.ofQueue[queue] ?? [], limit: trace.queues[Int(queue)].limit, workers, priority: priority)
                for index in indices {
                    let query = queries[index]
                    answers[index] = split(
                        trace.operations[query.operation], query.from, barrierEnd: barriers[UInt32(query.operation)],
                        timeline, workers)
                }
            }
        }
        return answers
    }

    private static func split(
        _ operation: TracedOperation, _ from: TraceTime, barrierEnd: TraceTime?, _ queue: QueueTimeline,
        _ workers: WorkersTimeline
    ) -> WaitSplit {
        var split = WaitSplit()
        split[.submission] = max(0, min(operation.submit, operation.start) - from)
        let submitted = max(from, operation.submit)
        split[.dependency] = max(0, operation.ready - submitted)
        let ready = max(submitted, operation.ready)
        guard ready < operation.start else { return split }

        let open = min(max(ready, barrierEnd ?? ready), operation.start)
        let (atReady, atOpen, atStart) = (
            queue.sum(until: ready), queue.sum(until: open), queue.sum(until: operation.start)
        )
        split[.suspension] = atStart.suspended - atReady.suspended
        split[.barrier] = open - ready - (atOpen.suspended - atReady.suspended)
        // An operation that started before this one was ready has not overtaken it.
        let inQueue = queue.sum(
            until: min(max(open, queue.starts.first(after: operation.ready)), operation.start))
        let anywhere = queue.sum(
            until: min(max(open, workers.starts.first(after: operation.ready)), operation.start))
        let overtakenInQueue = atStart.fullOvertaken - inQueue.fullOvertaken
        let overtakenAnywhere = atStart.open.overtaken - anywhere.open.overtaken
        split[.priority] = overtakenInQueue + overtakenAnywhere
        split[.limit] = atStart.full - atOpen.full - overtakenInQueue
        let whileOpen = atStart.open - atOpen.open
        split[.workers] = whileOpen.busy - overtakenAnywhere
        split[.processor] = whileOpen.processor
        let known = (atStart.suspended - atOpen.suspended) + (atStart.full - atOpen.full)
        split[.wakeUp] = operation.start - open - known - whileOpen.busy - whileOpen.processor
        return split
    }

    /// The time until which barriers kept each operation of their queues from starting; for a barrier, until which
    /// earlier operations did.
    static func barrierEnds(_ trace: SampleTrace) -> [UInt32: TraceTime] {
        var ends: [UInt32: TraceTime] = [:]
        for order in trace.submissionOrdersWithBarriers() {
            var (barrierEnd, anyEnd) = (TraceTime.min, TraceTime.min)
            for entry in order {
                let latest = entry.isBarrier ? anyEnd : barrierEnd
                if latest != .min { ends[entry.operation] = latest }
                let end = trace.operations[Int(entry.operation)].end
                guard end != .absent else { continue }
                anyEnd = max(anyEnd, end)
                if entry.isBarrier { barrierEnd = max(barrierEnd, end) }
            }
        }
        return ends
    }

    /// The changes in chronological order.
    private struct Events {
        var all: [WaitEvent] = []
        var ofQueue: [UInt16: [WaitEvent]] = [:]

        init(_ trace: SampleTrace, _ ends: [TraceTime]) {
            all.reserveCapacity(2 * trace.operations.count)
            for (index, operation) in trace.operations.enumerated() where operation.wasExecuted {
                let start = WaitEvent(time: operation.start, kind: .start, priority: operation.priority)
                let end = WaitEvent(time: ends[index], kind: .end)
                all.append(start)
                all.append(end)
                ofQueue[operation.queue, default: []].append(start)
                ofQueue[operation.queue, default: []].append(end)
            }
            for event in trace.threadEvents where event.kind == .growth || event.kind == .shrinkage {
                all.append(WaitEvent(time: event.time, kind: event.kind == .growth ? .grow : .shrink))
            }
            for wait in trace.waits ?? [] {
                all.append(WaitEvent(time: wait.start, kind: .wantsProcessor))
                all.append(WaitEvent(time: wait.end, kind: .gotProcessor))
            }
            for span in trace.spans where span.kind == .suspension {
                ofQueue[span.queue, default: []].append(WaitEvent(time: span.start, kind: .suspend))
                if span.end != .absent {
                    ofQueue[span.queue, default: []].append(WaitEvent(time: span.end, kind: .resume))
                }
            }
            all.sort()
            for queue in ofQueue.keys { ofQueue[queue]!.sort() }
        }
    }
}

/// Times when workers continued with the next operation without a pause.
struct WorkerGaps {
    /// For each operation, the start of its worker's next one if that followed immediately; otherwise its own end.
    let heldUntil: [TraceTime]
    /// For each operation, the end of its worker's previous one; the smallest number if there is none.
    let previousEnds: [TraceTime]

    /// For workers whose sleep is not traced, a gap up to this long counts as the way to the next operation, in
    /// nanoseconds; waking a thread takes longer.
    static let longestGap: Int64 = 10_000

    init(_ trace: SampleTrace) {
        var heldUntil = trace.operations.map(\.end)
        var previousEnds = [TraceTime](repeating: .min, count: trace.operations.count)
        let parks = Dictionary(
            grouping: trace.threadEvents.lazy.filter { $0.kind == .park }, by: \.thread
        ).mapValues { $0.map(\.time).sorted() }
        let executed = trace.operations.indices.filter {
            trace.operations[$0].wasExecuted && trace.operations[$0].worker != TracedOperation.unknown
        }
        for (worker, indices) in Dictionary(grouping: executed, by: { trace.operations[$0].worker }) {
            let order = indices.sorted {
                (trace.operations[$0].start, trace.operations[$0].end, $0)
                    < (trace.operations[$1].start, trace.operations[$1].end, $1)
            }
            for (before, next) in zip(order, order.dropFirst()) {
                let (end, start) = (trace.operations[before].end, trace.operations[next].start)
                // Operations that end on another thread overlap on a worker.
                guard end <= start else { continue }
                previousEnds[next] = end
                let goesOn =
                    trace.threadEvents.isEmpty
                    ? start - end <= Self.longestGap : !Self.has(parks[worker] ?? [], from: end, to: start)
                if goesOn { heldUntil[before] = start }
            }
        }
        self.heldUntil = heldUntil
        self.previousEnds = previousEnds
    }

    /// - Parameter times: sorted.
    private static func has(_ times: [TraceTime], from start: TraceTime, to end: TraceTime) -> Bool {
        let first = times.partition { $0 >= start }
        return first < times.count && times[first] <= end
    }
}

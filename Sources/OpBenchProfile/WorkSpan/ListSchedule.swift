/// A trace's operations scheduled anew, to see what a change would bring: a list schedule in the sense of Graham
/// (1969).
///
/// Whenever a worker is free, it takes, of the operations that are ready and whose queue is neither suspended nor at
/// its limit, the one of the highest priority; of several, the one that is ready for longest, then the first in the
/// trace. Bodies take as long as they did, and nothing else takes any time. Queues are suspended when they were. What was
/// submitted in an operation's body is submitted at that place of it, everything else when it was. So a schedule is
/// compared with another schedule, and not with the measured time.
public struct ListSchedule: Equatable, Sendable {
    public struct Change: Sendable {
        /// nil for as many as there were.
        public var workers: Int?
        /// Operations whose bodies take no time, by their places in the trace.
        public var free: Set<Int>
        /// Whether queues have no limits.
        public var unlimited: Bool
        /// Whether everything was submitted at the beginning, but for what operations submit.
        public var submittedAtOnce: Bool

        public init(
            workers: Int? = nil, free: Set<Int> = [], unlimited: Bool = false, submittedAtOnce: Bool = false
        ) {
            self.workers = workers
            self.free = free
            self.unlimited = unlimited
            self.submittedAtOnce = submittedAtOnce
        }
    }

    /// From the first submission to the last end.
    public let elapsed: Int64
    /// By operation; `absent` for those that were not executed, or that a queue which is never resumed holds back.
    public let starts: [TraceTime]

    /// - Parameter trace: one that `SampleTrace.check()` takes.
    public init(_ trace: SampleTrace, _ graph: OperationGraph, _ change: Change = Change()) {
        var scheduler = Scheduler(trace, graph, change)
        scheduler.run()
        starts = scheduler.starts
        elapsed = scheduler.elapsed
    }
}

private struct Scheduler {
    private struct Event: Comparable {
        enum Kind: UInt8 { case end, suspend, resume, submit }
        var time: TraceTime
        var kind: Kind
        /// An operation or a queue.
        var index: Int

        static func < (left: Event, right: Event) -> Bool {
            (left.time, left.kind.rawValue, left.index) < (right.time, right.kind.rawValue, right.index)
        }
    }

    /// The operation to take next is the least.
    private struct Candidate: Comparable {
        var priority: Int8
        var ready: TraceTime
        var operation: Int

        static func < (left: Candidate, right: Candidate) -> Bool {
            (right.priority, left.ready, left.operation) < (left.priority, right.ready, right.operation)
        }
    }

    private let operations: [TracedOperation]
    private let graph: OperationGraph
    private let free: Set<Int>
    private let origin: TraceTime
    private var workers: Int
    private var slots: [Int]
    private var suspensions: [Int]
    /// What each queue has ready.
    private var ready: [Heap<Candidate>]
    /// Of every open queue that has something ready, its first. An entry may be out of date.
    private var candidates = Heap<Candidate>()
    private var isOffered: [Bool]
    private var waitsFor: [Int]
    private var isSubmitted: [Bool]
    private var events = Heap<Event>()
    private(set) var starts: [TraceTime]
    private var lastEnd: TraceTime

    var elapsed: Int64 { lastEnd - origin }

    init(_ trace: SampleTrace, _ graph: OperationGraph, _ change: ListSchedule.Change) {
        operations = trace.operations
        self.graph = graph
        free = change.free
        let origin = trace.executedRange?.lowerBound ?? 0
        self.origin = origin
        lastEnd = origin
        workers = max(1, change.workers ?? trace.workerCount)
        slots = trace.queues.map { change.unlimited ? .max : $0.limit ?? .max }
        suspensions = trace.queues.map { _ in 0 }
        ready = trace.queues.map { _ in Heap() }
        isOffered = operations.map { _ in false }
        isSubmitted = operations.map { _ in false }
        starts = operations.map { _ in .absent }
        waitsFor = operations.indices.map { graph.predecessors(of: $0).count }
        for (index, operation) in operations.enumerated() where graph.submitter(of: index) == nil {
            let time = change.submittedAtOnce ? min(operation.submit, origin) : operation.submit
            events.insert(Event(time: time, kind: .submit, index: index))
        }
        for span in trace.spans where span.kind == .suspension {
            events.insert(Event(time: span.start, kind: .suspend, index: Int(span.queue)))
            if span.end != .absent { events.insert(Event(time: span.end, kind: .resume, index: Int(span.queue))) }
        }
    }

    mutating func run() {
        while let time = events.first?.time {
            while let event = events.first, event.time == time {
                _ = events.removeFirst()
                handle(event)
            }
            dispatch(at: time)
        }
    }

    private mutating func handle(_ event: Event) {
        switch event.kind {
        case .submit:
            isSubmitted[event.index] = true
            makeReadyIfFree(event.index, at: event.time)
        case .end:
            workers += 1
            let queue = Int(operations[event.index].queue)
            if slots[queue] != .max { slots[queue] += 1 }
            lastEnd = max(lastEnd, event.time)
            finish(event.index, at: event.time)
            offer(queue)
        case .suspend: suspensions[event.index] += 1
        case .resume:
            suspensions[event.index] -= 1
            offer(event.index)
        }
    }

    private mutating func finish(_ operation: Int, at time: TraceTime) {
        // Operations that were not executed end at once, and may be many in a row.
        var finished = [operation]
        while let next = finished.popLast() {
            for successor in graph.successors(of: next).map({ Int($0) }) {
                waitsFor[successor] -= 1
                if isFree(successor), !operations[successor].wasExecuted {
                    finished.append(successor)
                } else {
                    makeReadyIfFree(successor, at: time)
                }
            }
        }
    }

    private func isFree(_ operation: Int) -> Bool { isSubmitted[operation] && waitsFor[operation] == 0 }

    private mutating func makeReadyIfFree(_ index: Int, at time: TraceTime) {
        guard isFree(index) else { return }
        let operation = operations[index]
        guard operation.wasExecuted else { return finish(index, at: time) }
        let queue = Int(operation.queue)
        ready[queue].insert(Candidate(priority: operation.priority, ready: time, operation: index))
        offer(queue)
    }

    /// Sees to it that the queue's first operation is a candidate, if it may start one.
    private mutating func offer(_ queue: Int) {
        guard slots[queue] > 0, suspensions[queue] == 0, let first = ready[queue].first else { return }
        guard !isOffered[first.operation] else { return }
        isOffered[first.operation] = true
        candidates.insert(first)
    }

    private mutating func dispatch(at time: TraceTime) {
        while workers > 0, let candidate = candidates.removeFirst() {
            let index = candidate.operation
            let queue = Int(operations[index].queue)
            isOffered[index] = false
            // All that come before it in its queue were offered too, and taken: it is the queue's first.
            guard slots[queue] > 0, suspensions[queue] == 0 else { continue }
            _ = ready[queue].removeFirst()
            workers -= 1
            if slots[queue] != .max { slots[queue] -= 1 }
            starts[index] = time
            let duration = free.contains(index) ? 0 : operations[index].duration
            events.insert(Event(time: time + duration, kind: .end, index: index))
            for submitted in graph.submissions(of: index).map({ Int($0) }) {
                let part = min(duration, operations[submitted].submit - operations[index].start)
                events.insert(Event(time: time + part, kind: .submit, index: submitted))
            }
            offer(queue)
        }
    }
}

/// A binary heap whose least element comes first.
struct Heap<Element: Comparable> {
    private var elements: [Element] = []

    var isEmpty: Bool { elements.isEmpty }
    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0, elements[child] < elements[(child - 1) / 2] {
            elements.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() -> Element? {
        guard let first = elements.first else { return nil }
        let last = elements.removeLast()
        if elements.isEmpty { return first }
        elements[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < elements.count && elements[child] < elements[least] {
                least = child
            }
            if least == parent { return first }
            elements.swapAt(parent, least)
            parent = least
        }
    }
}

/// A new schedule of a trace's operations that shows the effect of a change: a list schedule in the sense of Graham
/// (1969).
///
/// A free worker takes the ready operation with the highest priority among queues that are neither suspended nor at
/// their limits; among several, the one that has been ready longest, then the first in the trace. Bodies take their
/// recorded time, and nothing else takes any time. Queues are suspended as recorded. Operations that a body submitted
/// are submitted at the same point of that body, all others at their recorded time. A schedule can be compared with
/// another schedule, but not with the measured time.
public struct ListSchedule: Equatable, Sendable {
    public struct Change: Sendable {
        /// The number of workers; nil for `SampleTrace.mostWorkers`.
        public var workers: Int?
        /// Operations whose bodies take no time, as indices in the trace.
        public var free: Set<Int>
        /// Whether queues have no limits.
        public var unlimited: Bool
        /// Whether everything is submitted at the beginning, except operations that other operations submit.
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

    /// The time from the first submission to the last end.
    public let elapsed: Int64
    /// Start times by operation; `absent` for operations that were not executed, or that a never resumed queue holds.
    public let starts: [TraceTime]

    /// - Parameter trace: a trace that passes `SampleTrace.check()`.
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

    /// An operation that may be next; the least candidate is.
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
    /// The ready operations of each queue.
    private var ready: [Heap<Candidate>]
    /// The first operation of every open queue with ready operations. An entry may be outdated.
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
        workers = max(1, change.workers ?? trace.mostWorkers)
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
        // Operations that were not executed end at once, and there may be many in a row.
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

    /// Makes the queue's first operation a candidate, if the queue may start one.
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
            // All earlier operations of its queue were offered, too, and taken, so it is the queue's first.
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

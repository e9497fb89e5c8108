/// A change that operations wait for.
struct WaitEvent: Comparable {
    enum Kind: UInt8 {
        /// Events that free something come before those that occupy it, at equal times.
        case end, resume, grow, gotProcessor, wantsProcessor, suspend, shrink, start
    }

    var time: TraceTime
    var kind: Kind
    /// The priority of the starting operation.
    var priority: Int8 = 0

    static func < (left: WaitEvent, right: WaitEvent) -> Bool {
        (left.time, left.kind.rawValue, left.priority) < (right.time, right.kind.rawValue, right.priority)
    }
}

extension [WaitEvent] {
    /// The index of the last event at or before a time; nil if there is none.
    func last(at time: TraceTime) -> Int? {
        let next = partition { $0.time > time }
        return next == 0 ? nil : next - 1
    }
}

/// The start times of operations, in chronological order.
struct Starts {
    private let times: [TraceTime]

    /// - Parameter events: sorted.
    init(_ events: [WaitEvent]) { times = events.lazy.filter { $0.kind == .start }.map(\.time) }

    /// The first start after a time; `absent` if there is none.
    func first(after time: TraceTime) -> TraceTime {
        let index = count(upTo: time)
        return index < times.count ? times[index] : .absent
    }

    /// The number of starts up to and including a time.
    func count(upTo time: TraceTime) -> Int { times.partition { $0 > time } }
}

/// The time for which all workers were busy, accumulated up to any time, as seen by an operation of one priority.
struct WorkersTimeline {
    struct Sum {
        /// Time with all workers in operations.
        var busy: Int64 = 0
        /// The part of it while the last started operation has a higher priority.
        var overtaken: Int64 = 0
        /// Time with a worker free, while one waited for a processor.
        var processor: Int64 = 0

        static func += (left: inout Sum, right: Sum) {
            left.busy += right.busy
            left.overtaken += right.overtaken
            left.processor += right.processor
        }

        static func - (left: Sum, right: Sum) -> Sum {
            Sum(
                busy: left.busy - right.busy, overtaken: left.overtaken - right.overtaken,
                processor: left.processor - right.processor)
        }
    }

    private struct State {
        var isBusy = false
        var isOvertaken = false
        var lacksProcessor = false
    }

    private let events: [WaitEvent]
    let starts: Starts
    private var sums: [Sum] = []
    /// The state from each event on.
    private var states: [State] = []

    /// - Parameter events: the starts and ends of all operations, growth and shrinkage, and workers' waits for a
    ///   processor; sorted.
    init(_ events: [WaitEvent], workers: Int, priority: Int8) {
        self.events = events
        starts = Starts(events)
        var (running, width, queued, higher) = (0, workers, 0, false)
        var (sum, time) = (Sum(), events.first?.time ?? 0)
        sums.reserveCapacity(events.count)
        for event in events {
            if let state = states.last { Self.add(state, event.time - time, &sum) }
            time = event.time
            switch event.kind {
            case .start: (running, higher) = (running + 1, event.priority > priority)
            case .end: running -= 1
            case .grow: width += 1
            case .shrink: width -= 1
            case .wantsProcessor: queued += 1
            case .gotProcessor: queued -= 1
            case .suspend, .resume: break
            }
            sums.append(sum)
            states.append(State(isBusy: running >= width, isOvertaken: higher, lacksProcessor: queued > 0))
        }
    }

    private static func add(_ state: State, _ time: Int64, _ sum: inout Sum) {
        if state.isBusy {
            sum.busy += time
            if state.isOvertaken { sum.overtaken += time }
        } else if state.lacksProcessor {
            sum.processor += time
        }
    }

    func sum(until time: TraceTime) -> Sum {
        guard let place = events.last(at: time) else { return Sum() }
        var sum = sums[place]
        Self.add(states[place], time - events[place].time, &sum)
        return sum
    }
}

/// The time that a queue spent in each state, accumulated up to any time, as seen by an operation of one priority.
struct QueueTimeline {
    struct Sum {
        var suspended: Int64 = 0
        /// Time at its limit, and not suspended.
        var full: Int64 = 0
        var fullOvertaken: Int64 = 0
        /// Time in neither state, as all workers saw it.
        var open = WorkersTimeline.Sum()
    }

    private enum State { case open, suspended, full, fullOvertaken }

    private let events: [WaitEvent]
    let starts: Starts
    private let workers: WorkersTimeline
    private var sums: [Sum] = []
    private var states: [State] = []

    /// - Parameter events: the starts and ends of the queue's operations and its suspensions, sorted.
    init(_ events: [WaitEvent], limit: Int?, _ workers: WorkersTimeline, priority: Int8) {
        self.events = events
        starts = Starts(events)
        self.workers = workers
        var (running, suspensions, higher) = (0, 0, false)
        var sum = Sum()
        sums.reserveCapacity(events.count)
        for (index, event) in events.enumerated() {
            if index > 0 { add(states[index - 1], from: events[index - 1].time, to: event.time, &sum) }
            switch event.kind {
            case .start: (running, higher) = (running + 1, event.priority > priority)
            case .end: running -= 1
            case .suspend: suspensions += 1
            case .resume: suspensions -= 1
            case .grow, .shrink, .wantsProcessor, .gotProcessor: break
            }
            sums.append(sum)
            let isFull = limit.map { running >= $0 } ?? false
            states.append(suspensions > 0 ? .suspended : isFull ? (higher ? .fullOvertaken : .full) : .open)
        }
    }

    private func add(_ state: State, from start: TraceTime, to end: TraceTime, _ sum: inout Sum) {
        switch state {
        case .suspended: sum.suspended += end - start
        case .full: sum.full += end - start
        case .fullOvertaken:
            sum.full += end - start
            sum.fullOvertaken += end - start
        case .open:
            sum.open += workers.sum(until: end) - workers.sum(until: start)
        }
    }

    func sum(until time: TraceTime) -> Sum {
        guard let place = events.last(at: time) else {
            return Sum(open: workers.sum(until: time))
        }
        var sum = sums[place]
        add(states[place], from: events[place].time, to: time, &sum)
        // The time before the queue's first event.
        sum.open += workers.sum(until: events[0].time)
        return sum
    }
}

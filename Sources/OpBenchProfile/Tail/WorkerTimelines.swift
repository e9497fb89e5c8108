import OpBenchModel

/// Timelines of single operations and of their workers.
struct WorkerTimelines {
    private let trace: SampleTrace
    private let gaps: WorkerGaps
    /// The executed operations of each worker, by their starts.
    private let executed: [UInt16: [Int]]
    /// Parks and the ends of parks of each thread, in chronological order.
    private let sleeps: [UInt16: [TracedThreadEvent]]
    /// The wake-ups of each thread, in chronological order.
    private let wakeUps: [UInt16: [WakeUp]]

    /// From the call that wakes a thread to the thread's next operation, or its next sleep if that is earlier.
    struct WakeUp {
        var call: TraceTime
        var begin: TraceTime
        var waker: UInt16
    }

    /// - Parameter trace: a trace that passes `SampleTrace.check()`.
    init(_ trace: SampleTrace) {
        self.trace = trace
        gaps = WorkerGaps(trace)
        let operations = trace.operations
        let known = operations.indices.filter {
            operations[$0].wasExecuted && operations[$0].worker != TracedOperation.unknown
        }.sorted { (operations[$0].start, $0) < (operations[$1].start, $1) }
        executed = Dictionary(grouping: known) { operations[$0].worker }
        let events = trace.threadEvents.sorted { $0.time < $1.time }
        sleeps = Dictionary(grouping: events.filter { $0.kind == .park || $0.kind == .unpark }, by: \.thread)
        let (ofThread, sleepsOf) = (self.executed, self.sleeps)
        wakeUps = Dictionary(grouping: events.filter { $0.kind == .wake }, by: \.other).mapValues { calls in
            let thread = calls[0].other
            let own = ofThread[thread] ?? []
            let parks = (sleepsOf[thread] ?? []).filter { $0.kind == .park }
            return calls.map { call in
                let next = own.lastIndex(upTo: call.time) { operations[$0].start }.map { $0 + 1 } ?? 0
                let sleep = parks.lastIndex(upTo: call.time, by: \.time).map { $0 + 1 } ?? 0
                return WakeUp(
                    call: call.time,
                    begin: min(
                        next < own.count ? operations[own[next]].start : trace.stop,
                        sleep < parks.count ? parks[sleep].time : .max),
                    waker: call.thread)
            }
        }
    }

    /// Nil if the thread is unknown.
    func threadName(_ thread: UInt16) -> String? {
        Int(thread) < trace.threads.count ? trace.threads[Int(thread)].name : nil
    }

    func name(of suspect: TailBlame.Suspect) -> String {
        switch suspect {
        case .operation(let index): "operation \(index)"
        case .worker(let thread): threadName(thread) ?? "worker"
        case .queue(let queue): trace.queues[Int(queue)].name
        }
    }

    /// The worker whose wake-up took the longest part of an operation's wait from ready to start; its own worker if the
    /// trace has no wake-up then, and nil if that is unknown.
    func lateWorker(for index: Int) -> UInt16? {
        let own = trace.operations[index].worker
        let late = wakeUps.keys.map { (time: wakeUp(of: $0, during: index)?.time ?? 0, thread: $0) }
            .max { ($0.time, $1.thread) < ($1.time, $0.thread) }
        if let late, late.time > 0 { return late.thread }
        return own == TracedOperation.unknown ? nil : own
    }

    /// The wake-up of a thread in words; nil if the trace has none during the operation's wait.
    func wakeUp(of thread: UInt16, for index: Int) -> String? {
        guard let wakeUp = wakeUp(of: thread, during: index)?.wakeUp else { return nil }
        let late = max(0, wakeUp.call - trace.operations[index].ready)
        return "woken by \(threadName(wakeUp.waker) ?? "a thread") \(Quantities.time(late)) after ready, "
            + "began \(Quantities.time(wakeUp.begin - wakeUp.call)) after that"
    }

    /// The number of a thread's wake-ups during one wait that are examined, the last ones.
    private static let mostWakeUps = 256

    /// The wake-up of a thread that overlaps an operation's wait most.
    private func wakeUp(of thread: UInt16, during index: Int) -> (wakeUp: WakeUp, time: Int64)? {
        let (from, to) = (trace.operations[index].ready, trace.operations[index].start)
        let own = wakeUps[thread] ?? []
        var place = own.lastIndex(upTo: to - 1, by: \.call)
        var longest: (wakeUp: WakeUp, time: Int64)?
        var left = Self.mostWakeUps
        while let at = place, own[at].begin > from, left > 0 {
            left -= 1
            let time = min(own[at].begin, to) - max(own[at].call, from)
            if time > longest?.time ?? 0 { longest = (own[at], time) }
            place = at > 0 ? at - 1 : nil
        }
        return longest
    }

    func timeline(of index: Int, _ split: WaitSplit, culprit: String?) -> SlowOperation {
        let operation = trace.operations[index]
        let chosen = chosen(index)
        return SlowOperation(
            operation: index, thread: threadName(operation.worker), submit: operation.submit, ready: operation.ready,
            chosen: chosen, start: operation.start, end: operation.end,
            reasons: NamedTime.parts(of: split, body: operation.ownTime), culprit: culprit,
            meanwhile: occupations(of: operation.worker, from: operation.submit, to: chosen))
    }

    /// See `SlowOperation.chosen`.
    private func chosen(_ index: Int) -> TraceTime {
        let operation = trace.operations[index]
        var chosen = max(operation.ready, min(operation.start, gaps.previousEnd(of: index)))
        if let own = sleeps[operation.worker], let place = own.lastIndex(upTo: operation.start, by: \.time),
            own[place].kind == .unpark
        {
            chosen = max(chosen, own[place].time)
        }
        return chosen
    }

    /// The number of occupations in a timeline.
    private static let mostOccupations = 3

    /// The operations of a worker and its sleep in a range, the longest first.
    private func occupations(of worker: UInt16, from: TraceTime, to: TraceTime) -> [NamedTime] {
        guard from < to else { return [] }
        var found: [NamedTime] = []
        let own = executed[worker] ?? []
        var place = own.lastIndex(upTo: to - 1) { trace.operations[$0].start }
        // Operations that end on another thread may overlap later ones; the others end in order.
        while let at = place, trace.operations[own[at]].end > from {
            let operation = trace.operations[own[at]]
            found.append(
                NamedTime(name(of: .operation(own[at])), min(operation.end, to) - max(operation.start, from)))
            place = at > 0 ? at - 1 : nil
        }
        let asleep = sleepTime(of: worker, from: from, to: to)
        if asleep > 0 { found.append(NamedTime("asleep", asleep)) }
        return Array(
            found.enumerated().sorted { ($1.element.time, $0.offset) < ($0.element.time, $1.offset) }
                .prefix(Self.mostOccupations).map(\.element))
    }

    private func sleepTime(of worker: UInt16, from: TraceTime, to: TraceTime) -> Int64 {
        var (sum, since): (Int64, TraceTime?) = (0, nil)
        func add(_ begin: TraceTime, _ end: TraceTime) { sum += max(0, min(end, to) - max(begin, from)) }
        for event in sleeps[worker] ?? [] {
            if event.kind == .park {
                since = since ?? event.time
            } else if let begin = since {
                add(begin, event.time)
                since = nil
            }
        }
        if let since { add(since, to) }
        return sum
    }
}

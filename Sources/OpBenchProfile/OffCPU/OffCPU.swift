/// Where threads wait and for how long, between the marks, and who wakes whom how late.
public struct OffCPU: Sendable {
    /// A thread's time between the marks, in nanoseconds, from the first event that tells what it does.
    public struct ThreadTime: Equatable, Sendable {
        public var id: Int32
        public var name: String
        public var running: Int64 = 0
        /// It could have run, and no processor was free for it.
        public var waiting: Int64 = 0
        public var blocked: Int64 = 0
        /// How often it went to wait, and how often it had to give the processor to another.
        public var voluntary = 0
        public var involuntary = 0
    }

    public struct CauseRow: Equatable, Sendable {
        public var cause: OffCPUCause
        public var time: Int64
        /// How often such a wait began.
        public var count: Int
    }

    public let marks: MarkedTime
    /// The one that was blocked longest first.
    public let threads: [ThreadTime]
    /// Those that occurred, the longest first.
    public let causes: [CauseRow]
    /// Time without a processor for want of something else, by the stack that waits.
    public let blocked: StackProfile
    /// Time without a processor for want of one: preempted, or woken and not yet running.
    public let waiting: StackProfile
    /// The time that was waited for a wake-up, by the stack that woke.
    public let wakers: StackProfile
    public let wakeUps: WakeUpChains
    /// Whether it is known who woke whom.
    public let knowsWakers: Bool
    /// Events that are missing.
    public let lost: Int64

    /// - Parameter names: of threads by their numbers, in place of those that the script has.
    public init(_ script: SchedScript, marks: MarkedTime, names: [Int32: String] = [:]) {
        var replay = Replay(script, marks, names)
        replay.run(script.events)
        self.marks = marks
        threads = replay.threads.values.filter { max($0.running, $0.waiting, $0.blocked) > 0 }.sorted {
            ($1.blocked, $0.id) < ($0.blocked, $1.id)
        }
        causes = replay.causes.values.sorted { ($1.time, $0.cause.rawValue) < ($0.time, $1.cause.rawValue) }
        (blocked, waiting, wakers) = (replay.blocked, replay.waiting, replay.wakers)
        wakeUps = WakeUpChains(replay.wakes) { replay.name(of: $0) }
        (knowsWakers, lost) = (script.hasTracepoints, script.lost)
    }

    /// A wake-up whose thread got a processor.
    struct Wake: Equatable {
        var waker: Int32
        var woken: Int32
        var time: Int64
        var ran: Int64
        /// By its place, the wake-up that the waker ran by; nil if none is known.
        var cause: Int?
        var isMarked: Bool
    }
}

/// Follows each thread from event to event.
private struct Replay {
    private enum Condition {
        case unknown
        case running(since: Int64)
        case off(since: Int64, SchedEvent.State?, stack: UInt32, woken: Waking?)
        case ended
    }

    private struct Waking {
        var by: Int32
        var time: Int64
        var stack: UInt32
        /// The wake-up that the waker ran by.
        var cause: Int?
    }

    private let marks: MarkedTime
    private let names: [Int32: String]
    private let scriptNames: [Int32: String]
    private let symbols: [String]
    private var states: [Int32: Condition] = [:]
    /// A wake-up that came while the thread still ran: it may have been on its way to sleep.
    private var early: [Int32: Waking] = [:]
    private static let longestEarly: Int64 = 100_000
    /// The wake-up by which a thread runs.
    private var ranBy: [Int32: Int] = [:]
    private var causeOfNode: [UInt32: OffCPUCause] = [:]

    var threads: [Int32: OffCPU.ThreadTime] = [:]
    var causes: [OffCPUCause: OffCPU.CauseRow] = [:]
    var blocked: StackProfile
    var waiting: StackProfile
    var wakers: StackProfile
    var wakes: [OffCPU.Wake] = []

    init(_ script: SchedScript, _ marks: MarkedTime, _ names: [Int32: String]) {
        (self.marks, self.names, scriptNames) = (marks, names, script.threadNames)
        symbols = script.stacks.frames.map(\.symbol)
        (blocked, waiting, wakers) = (script.stacks, script.stacks, script.stacks)
    }

    func name(of thread: Int32) -> String { names[thread] ?? scriptNames[thread] ?? "thread \(thread)" }

    /// Since when all that threads do is known.
    private var epoch: Int64 = 0

    /// The threads that were recorded. Wake-ups of others, of other processes, are in the script, too.
    private var own: Set<Int32> = []

    mutating func run(_ events: [SchedEvent]) {
        epoch = events.first?.time ?? 0
        own = Set(events.lazy.filter { !$0.isWaking }.map(\.thread))
        for event in events {
            switch event.kind {
            case .on: putOn(event)
            case .off(let state): takeOff(event, state)
            case .waking(let woken): wake(woken, event)
            case .lost:
                // What a thread did meanwhile is not known.
                epoch = event.time
                states = [:]
                early = [:]
                ranBy = [:]
            }
        }
        guard let last = events.last else { return }
        for (thread, state) in states {
            switch state {
            case .unknown, .ended: continue
            case .running(let since): ran(thread, since, to: last.time)
            case .off(let since, let state, let stack, let woken):
                endWait(thread, since, state, stack, woken, at: max(last.time, marks.end ?? last.time))
            }
        }
    }

    private mutating func putOn(_ event: SchedEvent) {
        switch states[event.thread] ?? .unknown {
        case .unknown, .ended, .running:
            // From here on it is known what it does.
            ranBy[event.thread] = nil
        case .off(let since, let state, let stack, var woken):
            if woken == nil, state != .runnable, let waking = early[event.thread],
                since.length(since: waking.time) <= Self.longestEarly
            {
                woken = waking
                woken?.time = max(since, waking.time)
            }
            endWait(event.thread, since, state, stack, woken, at: event.time)
            if let woken {
                let isMarked = marks.contains(woken.time)
                if isMarked {
                    wakers.add(
                        node: woken.stack, weight: marks.overlap(from: since, to: woken.time).length,
                        thread: name(of: woken.by), time: woken.time)
                }
                ranBy[event.thread] = wakes.count
                wakes.append(
                    OffCPU.Wake(
                        waker: woken.by, woken: event.thread, time: woken.time, ran: event.time, cause: woken.cause,
                        isMarked: isMarked))
            } else if state != .runnable {
                ranBy[event.thread] = nil
            }
        }
        early[event.thread] = nil
        states[event.thread] = .running(since: event.time)
    }

    private mutating func takeOff(_ event: SchedEvent, _ state: SchedEvent.State?) {
        switch states[event.thread] ?? .unknown {
        case .running(let since): ran(event.thread, since, to: event.time)
        case .unknown, .ended: break
        case .off(let since, let known, let stack, let woken):
            // The switch's other event.
            states[event.thread] = .off(
                since: since, known ?? state, stack: stack == 0 ? event.stack : stack, woken: woken)
            return
        }
        states[event.thread] =
            state == .ended ? .ended : .off(since: event.time, state, stack: event.stack, woken: nil)
    }

    private mutating func wake(_ thread: Int32, _ event: SchedEvent) {
        let waking = Waking(by: event.thread, time: event.time, stack: event.stack, cause: ranBy[event.thread])
        switch states[thread] ?? .unknown {
        case .off(let since, let state, let stack, nil) where state != .runnable:
            states[thread] = .off(since: since, state, stack: stack, woken: waking)
        case .running: early[thread] = waking
        case .unknown where own.contains(thread):
            // It waits since before the beginning.
            states[thread] = .off(since: epoch, .sleeping, stack: 0, woken: waking)
        default: break
        }
    }

    // MARK: Sums

    private mutating func change(_ thread: Int32, _ body: (inout OffCPU.ThreadTime) -> Void) {
        let new = OffCPU.ThreadTime(id: thread, name: name(of: thread))
        body(&threads[thread, default: new])
    }

    private mutating func ran(_ thread: Int32, _ since: Int64, to end: Int64) {
        let length = marks.overlap(from: since, to: end).length
        if length > 0 { change(thread) { $0.running.addCapped(length) } }
    }

    private mutating func endWait(
        _ thread: Int32, _ since: Int64, _ state: SchedEvent.State?, _ stack: UInt32, _ woken: Waking?, at end: Int64
    ) {
        let cause = cause(state, stack)
        if marks.contains(since) {
            change(thread) { if cause.isRunnable { $0.involuntary += 1 } else { $0.voluntary += 1 } }
            causes[cause, default: OffCPU.CauseRow(cause: cause, time: 0, count: 0)].count += 1
        }
        let runnable = cause.isRunnable ? since : max(since, min(end, woken?.time ?? end))
        let wait = marks.overlap(from: since, to: runnable)
        let delay = marks.overlap(from: runnable, to: end)
        if wait.length > 0 {
            change(thread) { $0.blocked.addCapped(wait.length) }
            causes[cause, default: OffCPU.CauseRow(cause: cause, time: 0, count: 0)].time.addCapped(wait.length)
            blocked.add(node: stack, weight: wait.length, thread: name(of: thread), time: wait.begin)
        }
        if delay.length > 0 {
            change(thread) { $0.waiting.addCapped(delay.length) }
            if cause.isRunnable { causes[cause]?.time.addCapped(delay.length) }
            waiting.add(node: stack, weight: delay.length, thread: name(of: thread), time: delay.begin)
        }
    }

    private mutating func cause(_ state: SchedEvent.State?, _ stack: UInt32) -> OffCPUCause {
        if state == nil || state == .sleeping, let known = causeOfNode[stack] { return known }
        let cause = OffCPUCause(state: state, symbols: blocked.stack(stack).reversed().map { symbols[Int($0)] })
        if state == nil || state == .sleeping { causeOfNode[stack] = cause }
        return cause
    }
}

/// The places and durations of threads' waits between the marks, and the wake-ups with their delays.
public struct OffCPU: Sendable {
    /// A thread's time between the marks, in nanoseconds, from the first event that reveals its state.
    public struct ThreadTime: Equatable, Sendable {
        public var id: Int32
        public var name: String
        public var running: Int64 = 0
        /// Time runnable without a free processor.
        public var waiting: Int64 = 0
        public var blocked: Int64 = 0
        /// The numbers of switches because it waited, and because it was preempted.
        public var voluntary = 0
        public var involuntary = 0
    }

    public struct CauseRow: Equatable, Sendable {
        public var cause: OffCPUCause
        public var time: Int64
        /// The number of such waits.
        public var count: Int
    }

    public let marks: MarkedTime
    /// The threads, by blocked time in descending order.
    public let threads: [ThreadTime]
    /// The causes that occurred, by time in descending order.
    public let causes: [CauseRow]
    /// Time blocked, by the stack that waits.
    public let blocked: StackProfile
    /// Time runnable without a processor, by stack: preempted, or woken and not yet running.
    public let waiting: StackProfile
    /// Time waited for wake-ups, by the stack that woke.
    public let wakers: StackProfile
    public let wakeUps: WakeUpChains
    /// Whether wakers are known.
    public let knowsWakers: Bool
    /// The number of missing events.
    public let lost: Int64

    /// - Parameter names: names of threads by id, which replace those in the script.
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
        /// The index of the wake-up that made the waker run; nil if unknown.
        var cause: Int?
        var isMarked: Bool
    }
}

/// Tracks each thread from event to event.
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
        /// The wake-up that made the waker run.
        var cause: Int?
    }

    private let marks: MarkedTime
    private let names: [Int32: String]
    private let scriptNames: [Int32: String]
    private let symbols: [String]
    private var states: [Int32: Condition] = [:]
    /// A wake-up that came while the thread was still running, perhaps on its way to sleep.
    private var early: [Int32: Waking] = [:]
    private static let longestEarly: Int64 = 100_000
    /// The wake-up that made each thread run.
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

    /// The time from which the state of all threads is known.
    private var epoch: Int64 = 0

    /// The recorded threads. The script also contains wake-ups of other processes' threads.
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
                // The threads' states in the meantime are unknown.
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
            // The thread's state is known from here on.
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
            // The other event of the same switch.
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
            // The thread has been waiting since before the beginning.
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

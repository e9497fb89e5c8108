import OpBenchModel

/// The places and durations of threads' waits between the marks, and the wake-ups with their delays.
public struct OffCPU: Sendable {
    /// A thread's time between the marks, in nanoseconds, from the first event that reveals its state.
    public struct ThreadTime: Equatable, Sendable, Codable {
        public var id: Int32
        public var name: String
        public var running: Int64 = 0
        /// Time runnable without a free processor.
        public var waiting: Int64 = 0
        public var blocked: Int64 = 0
        /// The numbers of switches because it waited, and because it was preempted.
        public var voluntary = 0
        public var involuntary = 0

        public init(id: Int32, name: String) { (self.id, self.name) = (id, name) }
    }

    public struct CauseRow: Equatable, Sendable {
        public var cause: OffCPUCause
        public var time: Int64
        /// The number of such waits.
        public var count: Int
    }

    /// A thread's wait for anything but a processor, from its beginning to the wake-up.
    public struct Wait: Equatable, Sendable {
        public var thread: Int32
        public var begin: Int64
        public var end: Int64
        /// The part between the marks, in nanoseconds.
        public var length: Int64
        /// A node of the stacks.
        public var stack: UInt32
        /// Nil if no thread of the process ended it, or it is unknown.
        public var waker: Waker?
    }

    /// A thread that ended a wait.
    public struct Waker: Equatable, Sendable {
        public var thread: Int32
        public var stack: UInt32
        /// The waker's own last wait, as an index of `waits`.
        public var wait: Int?
    }

    public let marks: MarkedTime
    /// The threads, by blocked time in descending order.
    public let threads: [ThreadTime]
    /// The causes that occurred, by time in descending order.
    public let causes: [CauseRow]
    /// Time blocked, by the stack that waits.
    public let blocked: StackProfile
    /// The same time as far as threads of the process ended it, by the stack that woke.
    public let wakers: StackProfile
    /// The waits between the marks, in the order in which the threads ran again.
    public let waits: [Wait]
    /// The number of wake-ups, and the sum of the times until the woken thread ran, in nanoseconds.
    public let wakeUps: (count: Int, delay: Int64)
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
        (blocked, wakers, waits, wakeUps) = (replay.blocked, replay.wakers, replay.waits, replay.wakeUps)
        (knowsWakers, lost) = (script.hasTracepoints, script.lost)
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
        var by: OffCPU.Waker?
        var time: Int64
    }

    private let marks: MarkedTime
    private let names: [Int32: String]
    private let scriptNames: [Int32: String]
    private let symbols: [String]
    private var states: [Int32: Condition] = [:]
    /// A wake-up that came while the thread was still running, perhaps on its way to sleep.
    private var early: [Int32: Waking] = [:]
    private static let longestEarly: Int64 = 100_000
    /// The last wait of each thread.
    private var lastWaits: [Int32: Int] = [:]
    /// For each node of the stacks, whether a thread is not the cause of what it wakes there.
    private var isForeign = [false]
    private var causeOfNode: [UInt32: OffCPUCause] = [:]

    var threads: [Int32: OffCPU.ThreadTime] = [:]
    var causes: [OffCPUCause: OffCPU.CauseRow] = [:]
    var blocked: StackProfile
    var wakers: StackProfile
    var waits: [OffCPU.Wait] = []
    var wakeUps: (count: Int, delay: Int64) = (0, 0)

    init(_ script: SchedScript, _ marks: MarkedTime, _ names: [Int32: String]) {
        (self.marks, self.names, scriptNames) = (marks, names, script.threadNames)
        symbols = script.stacks.frames.map(\.symbol)
        (blocked, wakers) = (script.stacks, script.stacks)
        for node in script.stacks.nodes.dropFirst() {
            let symbol = symbols[Int(node.frame)]
            isForeign.append(isForeign[Int(node.parent)] || Self.foreign.contains { symbol.hasPrefix($0) })
        }
    }

    /// Prefixes of the kernel's functions for interrupts, which have nothing to do with the thread that they interrupt,
    /// and for the end of the process, which wakes all threads.
    private static let foreign = [
        "asm_sysvec_", "asm_common_interrupt", "common_interrupt", "apic_timer_interrupt", "do_IRQ", "el0t_64_irq",
        "el1h_64_irq", "gic_handle_irq", "zap_other_threads",
    ]

    private func name(of thread: Int32) -> String { names[thread] ?? scriptNames[thread] ?? "thread \(thread)" }

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
                lastWaits = [:]
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
        // The thread's state is known from here on.
        case .unknown, .ended, .running: lastWaits[event.thread] = nil
        case .off(let since, let state, let stack, var woken):
            if woken == nil, state != .runnable, let waking = early[event.thread],
                since.length(since: waking.time) <= Self.longestEarly
            {
                woken = waking
                woken?.time = max(since, waking.time)
            }
            endWait(event.thread, since, state, stack, woken, at: event.time)
            if let woken, marks.contains(woken.time) {
                wakeUps.count += 1
                wakeUps.delay.addClamped(event.time.length(since: woken.time))
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
        let waker = OffCPU.Waker(thread: event.thread, stack: event.stack, wait: lastWaits[event.thread])
        let isOwn = own.contains(event.thread) && !isForeign[Int(event.stack)]
        let waking = Waking(by: isOwn ? waker : nil, time: event.time)
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
        if length > 0 { change(thread) { $0.running.addClamped(length) } }
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
            change(thread) { $0.blocked.addClamped(wait.length) }
            causes[cause, default: OffCPU.CauseRow(cause: cause, time: 0, count: 0)].time.addClamped(wait.length)
            blocked.add(node: stack, weight: wait.length, thread: name(of: thread), time: wait.begin)
            if let waker = woken?.by {
                wakers.add(node: waker.stack, weight: wait.length, thread: name(of: waker.thread), time: runnable)
            }
            lastWaits[thread] = waits.count
            waits.append(
                OffCPU.Wait(
                    thread: thread, begin: since, end: runnable, length: wait.length, stack: stack, waker: woken?.by))
        }
        if delay.length > 0 {
            change(thread) { $0.waiting.addClamped(delay.length) }
            if cause.isRunnable { causes[cause]?.time.addClamped(delay.length) }
        }
    }

    private mutating func cause(_ state: SchedEvent.State?, _ stack: UInt32) -> OffCPUCause {
        if state == nil || state == .sleeping, let known = causeOfNode[stack] { return known }
        let cause = OffCPUCause(state: state, symbols: blocked.stack(stack).reversed().map { symbols[Int($0)] })
        if state == nil || state == .sleeping { causeOfNode[stack] = cause }
        return cause
    }
}

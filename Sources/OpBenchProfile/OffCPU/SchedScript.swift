import OpBenchModel

/// Parses the output of `perf script --show-switch-events --show-lost-events --ns -F
/// comm,pid,tid,time,event,trace,ip,sym,symoff,dso` for switches and wake-ups:
///
///     engine normal 1 755/788 24769.522195123: sched:sched_switch: prev_comm=… prev_state=S ==> next_comm=…
///         ffffffff821f8b58 __schedule+0x618 ([kernel.kallsyms])
///                    1018f9 syscall+0x19 (/usr/lib/x86_64-linux-gnu/libc.so.6)
///
///     engine normal 1 755/788 24769.522199000: PERF_RECORD_SWITCH OUT
///     submitter 1 755/755 24769.523000000: sched:sched_waking: comm=engine normal 1 pid=788 prio=120 target_cpu=001
///     engine normal 1 755/788 24769.523050000: PERF_RECORD_SWITCH IN
///
/// The switch event itself comes from the thread that leaves the processor; only the record shows its return. Where
/// tracepoints are not permitted, the event `context-switches` takes the place of the switch, and there are no
/// wake-ups. Unknown lines are skipped, counted and reported.
public struct SchedScript: Sendable {
    /// Events in chronological order.
    public private(set) var events: [SchedEvent] = []
    /// The stacks of the events. Its samples have no meaning.
    public private(set) var stacks = StackProfile(unit: .nanoseconds)
    /// The last names in perf's output.
    public private(set) var threadNames: [Int32: String] = [:]
    /// The number of events that perf dropped.
    public private(set) var lost: Int64 = 0
    /// Unknown lines, with the lines that belong to them.
    public private(set) var skippedLines = 0
    /// Whether there was a wake-up, or a switch that shows the thread's state.
    public private(set) var hasTracepoints = false

    /// Maps thread ids in the kernel's tracepoints to perf's ids, which differ in a container.
    private var ownNumbers: [Int32: Int32] = [:]

    /// - Parameters:
    ///   - output: any text.
    ///   - demangle: returns a readable name, or nil to keep the symbol.
    public init(_ output: [UInt8], demangle: (String) -> String? = SwiftDemangler.demangle) {
        var names: [String: String] = [:]
        var event: SchedEvent?
        var stack: [StackFrame] = []

        func frame(_ line: ArraySlice<UInt8>) -> StackFrame? {
            guard let (symbol, object) = PerfScript.function(line) else { return nil }
            let name = names[symbol] ?? demangle(symbol) ?? symbol
            names[symbol] = name
            return StackFrame(name: name, symbol: symbol, object: object)
        }
        func finish(_ script: inout SchedScript) {
            guard var ended = event else { return }
            event = nil
            ended.stack = script.stacks.node(stack.reversed())
            script.events.append(ended)
        }

        for line in output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if PerfScript.isBlank(line) {
                finish(&self)
            } else if line.first == UInt8(ascii: "#"), event == nil {
                continue
            } else if line.first == UInt8(ascii: "\t"), event != nil, stack.count < StackProfile.mostFrames,
                let frame = frame(line)
            {
                stack.append(frame)
            } else if let next = header(line) {
                finish(&self)
                stack = []
                // A thread that ends is one no more.
                if next.thread >= 0 { event = next }
            } else if Self.isBeginning(line) {
                finish(&self)
            } else if line.first == UInt8(ascii: "\t"), event == nil {
                // Belongs to an event of a thread that has ended.
                continue
            } else {
                skippedLines += 1
            }
        }
        finish(&self)
        for index in events.indices {
            if case .waking(let woken) = events[index].kind {
                events[index].kind = .waking(ownNumbers[woken] ?? woken)
            }
        }
        // Events with equal times keep perf's order.
        events = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }

    // MARK: Lines

    /// Whether a thread begins, or gets a name: perf prints such events together with the ends of threads.
    private static func isBeginning(_ line: ArraySlice<UInt8>) -> Bool {
        line.split(whereSeparator: PerfScript.isSpace).contains {
            $0.starts(with: "PERF_RECORD_FORK(".utf8) || $0.starts(with: "PERF_RECORD_COMM".utf8)
        }
    }

    private mutating func header(_ line: ArraySlice<UInt8>) -> SchedEvent? {
        let words = line.split(whereSeparator: PerfScript.isSpace)
        // A thread's name may contain anything, even a time; but it has no event name after it.
        for place in words.indices.dropFirst(2).dropLast() {
            guard let time = PerfScript.time(words[place]), let thread = PerfScript.thread(words[place - 1]) else {
                continue
            }
            let rest = words[(place + 1)...]
            guard let kind = kind(rest, line, by: thread) else { continue }
            if case .lost(let count) = kind { lost.addClamped(count) }
            if thread >= 0 {
                threadNames[thread] = String(
                    decoding: line[words[0].startIndex..<words[place - 2].endIndex], as: UTF8.self)
            }
            return SchedEvent(time: time, thread: thread, kind: kind)
        }
        return nil
    }

    /// - Parameter words: the words from the event's name on.
    private mutating func kind(
        _ words: ArraySlice<ArraySlice<UInt8>>, _ line: ArraySlice<UInt8>, by thread: Int32
    ) -> SchedEvent.Kind? {
        let name = String(decoding: words[words.startIndex], as: UTF8.self)
        switch name {
        case "PERF_RECORD_SWITCH", "PERF_RECORD_SWITCH_CPU_WIDE":
            guard let way = words.dropFirst().first.map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
            let isPreempted = words.dropFirst(2).first.map { $0.elementsEqual("preempt".utf8) } ?? false
            return way == "IN" ? .on : way == "OUT" ? .off(isPreempted ? .runnable : nil) : nil
        case "PERF_RECORD_LOST", "PERF_RECORD_LOST_SAMPLES": return PerfScript.lost(line).map { .lost($0) }
        // A thread that ends is no longer recorded when it leaves the processor.
        case _ where name.hasPrefix("PERF_RECORD_EXIT("): return .off(.ended)
        default: break
        }
        if name.hasPrefix("context-switches:") || name.hasPrefix("cs:") { return .off(nil) }
        if name.hasPrefix("sched:sched_switch:") {
            hasTracepoints = true
            let text = words.dropFirst()
            guard let state = Self.value("prev_state=", in: text) else { return nil }
            if thread >= 0, let traced = Self.value("prev_pid=", in: text).flatMap({ PerfScript.integer($0) }),
                let traced = Int32(exactly: traced)
            {
                ownNumbers[traced] = thread
            }
            return .off(SchedEvent.State(letter: state.first ?? 0))
        }
        if ["sched:sched_waking:", "sched:sched_wakeup:", "sched:sched_wakeup_new:"].contains(where: name.hasPrefix) {
            hasTracepoints = true
            guard let woken = Self.value("pid=", in: words.dropFirst()).flatMap({ PerfScript.integer($0) }),
                let woken = Int32(exactly: woken)
            else { return nil }
            return .waking(woken)
        }
        return nil
    }

    /// The value of the last word with this key, because the thread's name before it may contain such words.
    private static func value(_ key: String, in words: ArraySlice<ArraySlice<UInt8>>) -> ArraySlice<UInt8>? {
        words.last { $0.starts(with: key.utf8) }.map { $0.dropFirst(key.utf8.count) }
    }
}

/// A change of a thread's processor, or a wake-up.
public struct SchedEvent: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The thread gets a processor.
        case on
        /// The thread leaves the processor. The state is nil if the event does not include it.
        case off(State?)
        /// The thread, or an interrupt on its processor, wakes another thread.
        case waking(Int32)
        /// Events are missing here.
        case lost(Int64)
    }

    /// The state of a thread without a processor.
    public enum State: Equatable, Sendable {
        /// Ready to run, without a processor.
        case runnable
        /// Waits, interruptibly.
        case sleeping
        /// Waits uninterruptibly, mostly for a disk.
        case uninterruptible
        case ended
        case stopped

        /// Maps the first letter that the kernel's tracepoint prints.
        init?(letter: UInt8) {
            switch letter {
            case UInt8(ascii: "R"): self = .runnable
            case UInt8(ascii: "S"), UInt8(ascii: "I"): self = .sleeping
            case UInt8(ascii: "D"): self = .uninterruptible
            case UInt8(ascii: "X"), UInt8(ascii: "Z"): self = .ended
            case UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: "P"): self = .stopped
            default: return nil
            }
        }
    }

    /// Nanoseconds on the profiler's clock.
    public var time: Int64
    public var thread: Int32
    public var kind: Kind
    /// A node of the script's stacks.
    public var stack: UInt32 = 0

    public init(time: Int64, thread: Int32, kind: Kind, stack: UInt32 = 0) {
        (self.time, self.thread, self.kind, self.stack) = (time, thread, kind, stack)
    }

    var isWaking: Bool { if case .waking = kind { true } else { false } }
}

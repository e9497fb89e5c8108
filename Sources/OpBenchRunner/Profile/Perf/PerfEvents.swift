import Glibc

/// The events that perf records.
enum PerfEvents: String, Sendable, CaseIterable {
    /// Stacks, sampled by a clock of CPU time; with kernel stacks if permitted.
    case cpu
    /// Switches and wake-ups, by the kernel's tracepoints.
    case wakeUps = "wake_ups"
    /// Only switches, where tracepoints are not permitted.
    case switches

    /// Samples per second of a running thread. Not a divisor of usual timer rates.
    static let frequency = 997
    /// The same for a program that may run for minutes: the file lasts for five of them on one processor.
    static let programFrequency = 199
    /// Bytes of a thread's stack, for the CPU clock. Deeper stacks lose their outermost callers.
    static let stackBytes = 16384
    /// perf ends when its file reaches this size.
    static let largestFile = "1G"

    /// The raw file in a profile's folder.
    var fileName: String { self == .cpu ? "cpu.perf.data" : "offcpu.perf.data" }

    /// The options of `perf record` that select events.
    ///
    /// CPU samples carry a copy of the stack, in which perf finds the callers with the unwind tables that all code has:
    /// the chain of frame pointers breaks in malloc, libdispatch and the C library. Switches can be too frequent for
    /// that.
    private func options(frequency: Int) -> [String] {
        switch self {
        case .cpu:
            ["-e", "cpu-clock", "-F", "\(frequency)", "--call-graph", "dwarf,\(Self.stackBytes)"]
        case .wakeUps:
            ["-e", "sched:sched_switch,sched:sched_waking", "--switch-events", "--call-graph", "fp"]
        case .switches:
            // From the kernel's side: as a user-space event, a switch would never occur.
            ["-e", "context-switches:k", "-c", "1", "--switch-events", "--call-graph", "fp"]
        }
    }

    /// The options that select the recorded threads, the best first. Options that are not permitted fail at once.
    ///
    /// The CPU clock of a single program starts and stops a timer at each switch. Each time takes several microseconds
    /// that no sample shows, mostly where threads switch often. The clocks of the processors keep running. They see
    /// everything that runs there; `script` selects the program, and the raw file is not kept.
    func targets(_ process: pid_t) -> [[String]] {
        let own = ["-p", "\(process)"]
        return self == .cpu ? [["-a"], own] : [own]
    }

    /// Buffer for records that perf has not yet written, per processor. Ordinary users may lock little memory.
    private static var buffer: [String] { geteuid() == 0 ? ["-m", "8M"] : [] }

    /// Arguments of `perf record` that write to a file, without copies of executables in the home folder. Without
    /// events of BPF programs, since the thread that collects them delays the end by up to a second.
    func record(into file: String, frequency: Int = Self.frequency) -> [String] {
        ["record", "--no-buildid", "--no-buildid-cache", "--no-bpf-event", "-k", "CLOCK_MONOTONIC"] + Self.buffer
            + options(frequency: frequency)
            + ["--max-size", Self.largestFile, "-o", file]
    }

    /// Arguments of `perf script` for this file.
    ///
    /// - Parameters:
    ///   - process: the process whose samples are printed.
    ///   - span: from the first mark to the end of the last; nil for all.
    func script(_ file: String, of process: pid_t, span: Range<Int64>?) -> [String] {
        var arguments = ["script", "-i", file, "--no-inline", "--ns", "--show-lost-events"]
        switch self {
        case .cpu:
            arguments += ["--pid", "\(process)", "-F", "comm,pid,tid,time,event,period,ip,sym,symoff,dso"]
            if let span { arguments += ["--time", "\(Self.time(span.lowerBound)),\(Self.time(span.upperBound))"] }
        case .wakeUps, .switches:
            // Everything: a thread's state at the first mark follows from earlier events.
            arguments += ["--show-switch-events", "--show-task-events"]
            arguments += ["-F", "comm,pid,tid,time,event,trace,ip,sym,symoff,dso"]
        }
        return arguments
    }

    /// Seconds in perf's format.
    private static func time(_ nanoseconds: Int64) -> String {
        let fraction = String(nanoseconds % 1_000_000_000)
        return "\(nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count) + fraction
    }

    /// Keeps a user's settings from changing perf's output, and perf from downloading anything.
    static let environment = ["PERF_CONFIG": "/dev/null", "DEBUGINFOD_URLS": "", "LC_ALL": "C"]
}

import Glibc

/// What perf is to record.
enum PerfEvents: String, Sendable, CaseIterable {
    /// Stacks, by a clock of CPU time; the kernel's as well where that is permitted.
    case cpu
    /// Switches and wake-ups, by the kernel's tracepoints.
    case wakeUps = "wake_ups"
    /// Switches alone, where tracepoints are not permitted.
    case switches

    /// Samples a second of a thread that runs. No divisor of what timers run at.
    static let frequency = 997
    /// Of a thread's stack, for the CPU clock. Deeper ones lose their outermost callers.
    static let stackBytes = 16384
    /// perf ends by itself then.
    static let largestFile = "1G"

    /// The raw file in a profile's folder.
    var fileName: String { self == .cpu ? "cpu.perf.data" : "offcpu.perf.data" }

    /// The options of `perf record` that say what is recorded.
    ///
    /// CPU samples carry a copy of the stack, of which perf finds the callers by tables that all code has: the chain of
    /// frame pointers breaks in malloc, libdispatch and the C library. Switches can be too many for that.
    var options: [String] {
        switch self {
        case .cpu:
            ["-e", "cpu-clock", "-F", "\(Self.frequency)", "--call-graph", "dwarf,\(Self.stackBytes)"]
        case .wakeUps:
            ["-e", "sched:sched_switch,sched:sched_waking", "--switch-events", "--call-graph", "fp"]
        case .switches:
            // Of the kernel's side: as an event of a program alone, a switch would never come.
            ["-e", "context-switches:k", "-c", "1", "--switch-events", "--call-graph", "fp"]
        }
    }

    /// The options that say whose threads are recorded, the best first: those that are not permitted fail at once.
    ///
    /// The CPU clock of one program starts and stops a timer at each switch. That takes several microseconds each time,
    /// which no sample sees, and most where threads switch often. The clocks of the processors run on. They see everything
    /// that runs there, of which `script` takes the program; the raw file is not kept.
    func targets(_ process: pid_t) -> [[String]] {
        let own = ["-p", "\(process)"]
        return self == .cpu ? [["-a"], own] : [own]
    }

    /// Room for records that perf has not yet written, for each processor. Users may lock little memory.
    private static var buffer: [String] { geteuid() == 0 ? ["-m", "8M"] : [] }

    /// `perf record` that writes to a file, without copies of executables in the home folder.
    func record(into file: String) -> [String] {
        ["record", "--no-buildid", "--no-buildid-cache", "-k", "CLOCK_MONOTONIC"] + Self.buffer + options
            + ["--max-size", Self.largestFile, "-o", file]
    }

    /// `perf script`, of this file.
    ///
    /// - Parameters:
    ///   - process: whose samples are printed.
    ///   - span: from the first mark to the last one's end; all if nil.
    func script(_ file: String, of process: pid_t, span: Range<Int64>?) -> [String] {
        var arguments = ["script", "-i", file, "--no-inline", "--ns", "--show-lost-events"]
        switch self {
        case .cpu:
            arguments += ["--pid", "\(process)", "-F", "comm,pid,tid,time,event,period,ip,sym,symoff,dso"]
            if let span { arguments += ["--time", "\(Self.time(span.lowerBound)),\(Self.time(span.upperBound))"] }
        case .wakeUps, .switches:
            // All of it: what a thread does at the first mark is told by what it did before.
            arguments += ["--show-switch-events", "-F", "comm,pid,tid,time,event,trace,ip,sym,symoff,dso"]
        }
        return arguments
    }

    /// Seconds, as perf takes them.
    private static func time(_ nanoseconds: Int64) -> String {
        let fraction = String(nanoseconds % 1_000_000_000)
        return "\(nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count) + fraction
    }

    /// That nobody's settings change what perf prints, and that it fetches nothing from elsewhere.
    static let environment = ["PERF_CONFIG": "/dev/null", "DEBUGINFOD_URLS": "", "LC_ALL": "C"]
}

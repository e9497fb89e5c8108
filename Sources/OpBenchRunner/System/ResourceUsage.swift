import CLinux
import Glibc
import OpBenchBackends
import OpBenchModel

/// The resources that getrusage(2) reports for the whole process, or for one thread.
struct ResourceUsage: Sendable {
    /// User and system time, in nanoseconds.
    var cpuNanoseconds: Int64 = 0
    var voluntarySwitches: Int = 0
    var involuntarySwitches: Int = 0
    /// Minor and major.
    var pageFaults: Int = 0

    static func now() -> ResourceUsage { read(RUSAGE_SELF.rawValue) }

    /// The usage of the process without its busy threads, which belong to the workload.
    static func now(without competitors: Competitors) -> ResourceUsage {
        // Reading a thread's clock updates the process's figures, which otherwise wait for a tick.
        let others = competitors.usage
        var usage = now()
        usage.subtract(others)
        return usage
    }

    static func ofThisThread() -> ResourceUsage {
        var usage = read(thisThread)
        usage.cpuNanoseconds = MonotonicClock.threadCPU()
        return usage
    }

    /// The value of RUSAGE_THREAD, which Glibc does not offer to Swift.
    private static let thisThread: Int32 = 1

    /// The usage of a thread of this process, without page faults; zero for a thread that has ended.
    static func of(thread: Int32) -> ResourceUsage {
        let status = SystemFile.text("/proc/self/task/\(thread)/status").split(separator: "\n")
        func count(_ name: String) -> Int {
            let line = status.first { $0.hasPrefix(name + ":") }
            return line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0
        }
        var usage = ResourceUsage(
            voluntarySwitches: count("voluntary_ctxt_switches"),
            involuntarySwitches: count("nonvoluntary_ctxt_switches"))
        // The clock as pthread_getcpuclockid(3) makes it.
        let clock = ~thread << 3 | 6
        usage.cpuNanoseconds = max(0, clinux_cpu_clock_ns(clock))
        return usage
    }

    private static func read(_ who: Int32) -> ResourceUsage {
        var usage = rusage()
        getrusage(__rusage_who_t(who), &usage)
        return ResourceUsage(
            cpuNanoseconds: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
            voluntarySwitches: usage.ru_nvcsw, involuntarySwitches: usage.ru_nivcsw,
            pageFaults: usage.ru_minflt + usage.ru_majflt)
    }

    /// CPU time of this process and of its children that have ended, in nanoseconds.
    static var withChildren: Int64 { now().cpuNanoseconds + ofChildren }

    /// CPU time of the children that have ended, from fork to their very end, in nanoseconds.
    static var ofChildren: Int64 {
        var children = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &children)
        return nanoseconds(children.ru_utime) + nanoseconds(children.ru_stime)
    }

    private static func nanoseconds(_ time: timeval) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_usec) * 1000
    }

    /// The most memory that this program ever had resident, in bytes; nil if the system does not tell.
    ///
    /// It is the number behind `ru_maxrss`, but since the program was executed: `ru_maxrss` itself begins with what the
    /// forking parent had resident.
    static var peakResident: Int? {
        let line = SystemFile.text("/proc/self/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
    }

    /// Adds what was used between two readings.
    mutating func add(from before: ResourceUsage, to after: ResourceUsage) {
        cpuNanoseconds += after.cpuNanoseconds - before.cpuNanoseconds
        voluntarySwitches += after.voluntarySwitches - before.voluntarySwitches
        involuntarySwitches += after.involuntarySwitches - before.involuntarySwitches
        pageFaults += after.pageFaults - before.pageFaults
    }

    /// Adds what was used elsewhere.
    mutating func add(_ other: ResourceUsage) { add(from: ResourceUsage(), to: other) }

    /// Subtracts usage that belongs to something else.
    mutating func subtract(_ other: ResourceUsage) { add(from: other, to: ResourceUsage()) }

    func report(operations: Int, into report: inout SampleReport) {
        for (metric, value) in [
            (Metric.cpuTime, Double(cpuNanoseconds)), (.voluntarySwitches, Double(voluntarySwitches)),
            (.involuntarySwitches, Double(involuntarySwitches)), (.pageFaults, Double(pageFaults)),
        ] {
            report.add(metric, "total", value, phase: "total", operations: operations)
        }
    }
}

/// A short fixed loop, to see how fast the machine is just now.
enum ReferenceLoop {
    /// What the loop takes on an undisturbed machine, in nanoseconds.
    static let nominal = 100_000

    /// The best of three.
    static func run(_ kernel: WorkKernel) -> Int64 {
        var best = Int64.max
        for _ in 0..<3 {
            let start = MonotonicClock.now()
            WorkKernel.run(kernel.iterations(nanoseconds: nominal))
            best = min(best, MonotonicClock.now() - start)
        }
        return best
    }
}

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
    /// Minor and major page faults.
    var pageFaults: Int = 0

    static func now() -> ResourceUsage { read(RUSAGE_SELF.rawValue) }

    static func ofThisThread() -> ResourceUsage {
        var usage = read(thisThread)
        usage.cpuNanoseconds = MonotonicClock.threadCPU()
        return usage
    }

    /// The value of RUSAGE_THREAD, which Glibc does not offer to Swift.
    private static let thisThread: Int32 = 1

    /// The usage of a thread of this process, without page faults; zero for a thread that has ended.
    static func of(thread: Int32) -> ResourceUsage {
        let status = SystemFile.text("/proc/self/task/\(thread)/status")
        var usage = ResourceUsage(
            voluntarySwitches: SystemFile.number("voluntary_ctxt_switches", in: status) ?? 0,
            involuntarySwitches: SystemFile.number("nonvoluntary_ctxt_switches", in: status) ?? 0)
        // The same clock id as of pthread_getcpuclockid(3).
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

    /// CPU time of this process and of its ended children, in nanoseconds.
    static var withChildren: Int64 { now().cpuNanoseconds + ofChildren }

    /// CPU time of ended children, from fork to exit, in nanoseconds.
    static var ofChildren: Int64 {
        var children = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &children)
        return nanoseconds(children.ru_utime) + nanoseconds(children.ru_stime)
    }

    private static func nanoseconds(_ time: timeval) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_usec) * 1000
    }

    /// The program's peak resident memory, in bytes; nil if the system does not report it.
    ///
    /// It equals `ru_maxrss`, but counts only since the program was executed: `ru_maxrss` begins with the resident
    /// memory of the forking parent.
    static var peakResident: Int? {
        SystemFile.number("VmHWM", in: SystemFile.text("/proc/self/status")).map { $0 * 1024 }
    }

    /// Adds the usage between two readings.
    mutating func add(from before: ResourceUsage, to after: ResourceUsage) {
        cpuNanoseconds += after.cpuNanoseconds - before.cpuNanoseconds
        voluntarySwitches += after.voluntarySwitches - before.voluntarySwitches
        involuntarySwitches += after.involuntarySwitches - before.involuntarySwitches
        pageFaults += after.pageFaults - before.pageFaults
    }

    /// Adds the usage of another part.
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

/// A short fixed loop that shows the machine's current speed.
enum ReferenceLoop {
    /// The loop's time on an undisturbed machine, in nanoseconds.
    static let nominal = 100_000

    /// The fastest of three.
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

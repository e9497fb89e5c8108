import Glibc
import OpBenchModel

/// What getrusage(2) says of the whole process.
struct ResourceUsage: Sendable {
    /// User and system time, in nanoseconds.
    var cpuNanoseconds: Int64 = 0
    var voluntarySwitches: Int = 0
    var involuntarySwitches: Int = 0
    /// Minor and major.
    var pageFaults: Int = 0

    static func now() -> ResourceUsage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
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

    func report(operations: Int, into report: inout SampleReport) {
        for (metric, value) in [
            (Metric.cpuTime, Double(cpuNanoseconds)), (.voluntarySwitches, Double(voluntarySwitches)),
            (.involuntarySwitches, Double(involuntarySwitches)), (.pageFaults, Double(pageFaults)),
        ] {
            report.add(metric, "total", value, phase: "total", operations: operations)
        }
    }
}

import Glibc

/// What getrusage(2) says of the whole process.
struct ResourceUsage: Sendable {
    /// User and system time, in nanoseconds.
    var cpuNanoseconds: Int64 = 0
    var voluntarySwitches: Int = 0
    var involuntarySwitches: Int = 0
    /// The most memory ever resident, in bytes.
    var peakResident: Int = 0

    static func now() -> ResourceUsage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return ResourceUsage(
            cpuNanoseconds: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
            voluntarySwitches: usage.ru_nvcsw, involuntarySwitches: usage.ru_nivcsw,
            peakResident: usage.ru_maxrss * 1024)
    }

    private static func nanoseconds(_ time: timeval) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_usec) * 1000
    }

    /// Adds what was used between two readings. The peak is the later one's.
    mutating func add(from before: ResourceUsage, to after: ResourceUsage) {
        cpuNanoseconds += after.cpuNanoseconds - before.cpuNanoseconds
        voluntarySwitches += after.voluntarySwitches - before.voluntarySwitches
        involuntarySwitches += after.involuntarySwitches - before.involuntarySwitches
        peakResident = after.peakResident
    }
}

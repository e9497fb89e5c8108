import Glibc
import OpBenchBackends
import OpBenchModel

/// What surrounded a sample: read by the parent just before the child starts and just after it ends, so that the child
/// spends nothing on it.
struct Covariates: Sendable {
    /// Sums since boot, in nanoseconds; nil where the system does not tell.
    var steal: Double?
    var pressure: Double?
    var throttled: Double?
    var load: Double?
    /// CPU time that other processes than this one and its children used.
    var foreign: Double?
    /// CPU time of the samples' processes that have ended.
    var samples: Double?
    /// How many processors there are; 0 where the system does not tell.
    var processors = 0
    var instant: Int64 = 0

    static func now() -> Covariates {
        let stat = SystemFile.text("/proc/stat")
        let instant = MonotonicClock.now()
        return Covariates(
            steal: steal(inStat: stat),
            pressure: pressure(inPSI: SystemFile.text("/proc/pressure/cpu")),
            throttled: throttled(inCgroup: SystemFile.text(SystemFile.cpuStatistics)),
            load: SystemFile.text("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) },
            foreign: busy(inStat: stat, at: instant).map { $0 - Double(ResourceUsage.withChildren) },
            samples: Double(ResourceUsage.ofChildren), processors: processors(inStat: stat), instant: instant)
    }

    /// The numbers of the line `cpu`, in nanoseconds.
    private static func times(inStat text: String) -> [Double]? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("cpu ") }) else { return nil }
        let ticks = line.split(separator: " ").dropFirst().compactMap { Double($0) }
        return ticks.count >= 8 ? ticks.map { $0 * 1e9 / Double(sysconf(Int32(_SC_CLK_TCK))) } : nil
    }

    /// The CPU time of everything up to an instant, to within a constant: what was neither idle, nor waiting for a device,
    /// nor stolen. The kernel measures these three, and samples user and system time once a tick, which is off by tens of
    /// milliseconds where threads wake often. nil where it counts nothing, as some sandboxes do.
    static func busy(inStat text: String, at instant: Int64) -> Double? {
        guard let times = times(inStat: text), times[3] > 0 else { return nil }
        return Double(processors(inStat: text)) * Double(instant) - times[3] - times[4] - times[7]
    }

    /// The lines `cpu0`, `cpu1`, …
    static func processors(inStat text: String) -> Int {
        text.split(separator: "\n").count { $0.hasPrefix("cpu") && !$0.hasPrefix("cpu ") }
    }

    /// The eighth number of the line `cpu`.
    static func steal(inStat text: String) -> Double? { times(inStat: text)?[7] }

    /// `total=` of the line `some`, which is in microseconds.
    static func pressure(inPSI text: String) -> Double? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("some") }),
            let total = line.split(separator: " ").first(where: { $0.hasPrefix("total=") }),
            let microseconds = Double(total.dropFirst(6))
        else { return nil }
        return microseconds * 1e3
    }

    /// `throttled_usec` of cgroup 2, or `throttled_time` (nanoseconds) of cgroup 1.
    static func throttled(inCgroup text: String) -> Double? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let value = Double(words[1]) else { continue }
            if words[0] == "throttled_usec" { return value * 1e3 }
            if words[0] == "throttled_time" { return value }
        }
        return nil
    }
}

import Glibc
import OpBenchBackends
import OpBenchModel

/// What surrounded a sample: read by the parent just before the child starts and just after it ends, so that the child
/// spends nothing on it.
struct Covariates: Sendable {
    /// Sums since boot, in seconds; nil where the system does not tell.
    var steal: Double?
    var pressure: Double?
    var throttled: Double?
    var load: Double?
    /// CPU time that other processes than this one and its children used.
    var foreign: Double?
    /// CPU time of the samples' processes that have ended.
    var samples: Double?
    var instant: Int64 = 0

    static func now() -> Covariates {
        let stat = SystemFile.text("/proc/stat")
        return Covariates(
            steal: steal(inStat: stat),
            pressure: pressure(inPSI: SystemFile.text("/proc/pressure/cpu")),
            throttled: throttled(inCgroup: SystemFile.text(SystemFile.cpuStatistics)),
            load: SystemFile.text("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) },
            foreign: busy(inStat: stat).map { $0 - seconds(ResourceUsage.withChildren) },
            samples: seconds(ResourceUsage.ofChildren),
            instant: MonotonicClock.now())
    }

    /// The numbers of the line `cpu`, in seconds.
    private static func times(inStat text: String) -> [Double]? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("cpu ") }) else { return nil }
        let ticks = line.split(separator: " ").dropFirst().compactMap { Double($0) }
        return ticks.count >= 8 ? ticks.map { $0 / Double(sysconf(Int32(_SC_CLK_TCK))) } : nil
    }

    /// User, nice, system and both kinds of interrupt.
    static func busy(inStat text: String) -> Double? {
        times(inStat: text).map { $0[0] + $0[1] + $0[2] + $0[5] + $0[6] }
    }

    /// The eighth number of the line `cpu`.
    static func steal(inStat text: String) -> Double? { times(inStat: text)?[7] }

    /// `total=` of the line `some`, in microseconds.
    static func pressure(inPSI text: String) -> Double? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("some") }),
            let total = line.split(separator: " ").first(where: { $0.hasPrefix("total=") }),
            let microseconds = Double(total.dropFirst(6))
        else { return nil }
        return microseconds / 1e6
    }

    /// `throttled_usec` of cgroup 2, or `throttled_time` (nanoseconds) of cgroup 1.
    static func throttled(inCgroup text: String) -> Double? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let value = Double(words[1]) else { continue }
            if words[0] == "throttled_usec" { return value / 1e6 }
            if words[0] == "throttled_time" { return value / 1e9 }
        }
        return nil
    }
}

/// What happened around one sample, and whether that disturbed it.
struct Surroundings: Sendable {
    var steal: Double?
    var pressure: Double?
    var throttled: Double?
    var load: Double?
    var foreign: Double?
    /// CPU time of the sample's process.
    var ownTime: Double?
    /// How long the child lived, in seconds.
    var elapsed: Double
    /// The slower anchor loop, in seconds; nil if the child did not answer.
    var anchor: Double?

    init(before: Covariates, after: Covariates, anchorNanoseconds: [Int64]) {
        func difference(_ property: KeyPath<Covariates, Double?>) -> Double? {
            guard let first = before[keyPath: property], let last = after[keyPath: property] else { return nil }
            return max(0, last - first)
        }
        steal = difference(\.steal)
        pressure = difference(\.pressure)
        throttled = difference(\.throttled)
        load = before.load
        foreign = difference(\.foreign)
        ownTime = difference(\.samples)
        elapsed = seconds(after.instant - before.instant)
        anchor = anchorNanoseconds.max().map(seconds)
    }

    /// Fixed thresholds, on nothing that the sample itself decides: more than a fiftieth of the time stolen, other
    /// processes busy for more than a quarter of it, any throttling, or the anchor loop a quarter slower than calibrated.
    /// Times of less than a few of the kernel's ticks of 10 ms do not count.
    var isStorm: Bool {
        if let steal, steal > 0.02 * elapsed, steal > 0.01 { return true }
        if let foreign, foreign > 0.25 * elapsed, foreign > 0.03 { return true }
        if let throttled, throttled > 0 { return true }
        if let anchor, anchor > 1.25 * Double(Anchor.nominal) / 1e9 { return true }
        return false
    }

    /// As rows' figures; an absent one gives none.
    func figures(operations: Int) -> [SampleReport.Figure] {
        let all: [(Metric, String, Double?)] = [
            (.anchorTime, "max", anchor), (.stealTime, "total", steal), (.cpuPressure, "total", pressure),
            (.foreignTime, "total", foreign), (.processCPUTime, "total", ownTime),
            (.throttledTime, "total", throttled), (.load, "mean", load),
        ]
        return all.compactMap { metric, stat, value in
            value.map { .init(metric: metric.name, stat: stat, value: $0, operations: operations) }
        }
    }
}

import Glibc
import OpBenchBackends
import OpBenchModel

/// Other use of the machine while one sample was taken, and whether it disturbed the sample.
struct Interference: Sendable {
    var steal: Double?
    var pressure: Double?
    var throttled: Double?
    var load: Double?
    var foreign: Double?
    private let processors: Double
    /// CPU time of the sample's process.
    var ownTime: Double?
    /// Lifetime of the child. All times are in nanoseconds.
    var elapsed: Double
    /// Time of the slower reference loop; nil if the child did not answer.
    var referenceLoop: Double?

    init(before: Covariates, after: Covariates, referenceLoopNanoseconds: [Int64]) {
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
        elapsed = Double(after.instant - before.instant)
        processors = Double(after.processors)
        referenceLoop = referenceLoopNanoseconds.max().map(Double.init)
    }

    /// Limit for latency samples, as a part of all processors' time: one operation in a hundred makes a 99th
    /// percentile.
    private static let latencyPart = 0.01
    /// Limit for other samples, as a part of the elapsed time: their figures are sums over all operations.
    private static let otherPart = 0.25
    /// Two of the kernel's units of 10 ms: the error of a difference.
    private static let leastForeign = 20e6

    /// Whether a sample of that kind is noisy. The thresholds are fixed and depend on nothing that the sample itself
    /// decides: more than a fiftieth of the time stolen, other processes busy for longer than the kind allows, any
    /// throttling, or a reference loop a quarter slower than calibrated.
    func disturbs(_ kind: SampleKind) -> Bool {
        // Callgrind's processor is simulated.
        if kind == .instructions { return false }
        let foreignLimit = kind == .latency ? Self.latencyPart * processors * elapsed : Self.otherPart * elapsed
        if let steal, steal > 0.02 * elapsed, steal > 10e6 { return true }
        if let foreign, foreign > max(foreignLimit, Self.leastForeign) { return true }
        if let throttled, throttled > 0 { return true }
        if let referenceLoop, referenceLoop > 1.25 * Double(ReferenceLoop.nominal) { return true }
        return false
    }

    /// The figures for rows, without the absent ones.
    func figures(operations: Int) -> [SampleReport.Figure] {
        let all: [(Metric, String, Double?)] = [
            (.referenceLoopTime, "max", referenceLoop), (.stealTime, "total", steal), (.cpuPressure, "total", pressure),
            (.foreignTime, "total", foreign), (.processCPUTime, "total", ownTime),
            (.throttledTime, "total", throttled), (.load, "mean", load),
        ]
        return all.compactMap { metric, stat, value in
            value.map { .init(metric: metric.name, stat: stat, value: $0, operations: operations) }
        }
    }
}

/// Conditions around a sample. The parent reads them just before the child starts and just after it ends, so that the
/// child spends nothing on them.
struct Covariates: Sendable {
    /// Sums since boot, in nanoseconds; nil if the system does not report them.
    var steal: Double?
    var pressure: Double?
    var throttled: Double?
    var load: Double?
    /// CPU time used by processes other than this one and its children.
    var foreign: Double?
    /// CPU time of the sample processes that have ended.
    var samples: Double?
    /// Number of processors; 0 if the system does not report it.
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

    /// The CPU time of the whole machine up to an instant, plus a constant: time that was neither idle, nor spent
    /// waiting for a device, nor stolen. The kernel measures these three, but samples user and system time once per
    /// tick, which is off by tens of milliseconds if threads wake often. Nil if the kernel counts nothing, as in some
    /// sandboxes.
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

    /// `total=` of the line `some`; the file has microseconds.
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

import Glibc
import OpBenchBackends
import OpBenchModel

/// What else used the machine while one sample was taken, and whether that disturbed it.
struct Interference: Sendable {
    var steal: Double?
    var pressure: Double?
    var throttled: Double?
    var load: Double?
    var foreign: Double?
    private let processors: Double
    /// CPU time of the sample's process.
    var ownTime: Double?
    /// How long the child lived. All times are in nanoseconds.
    var elapsed: Double
    /// The slower reference loop; nil if the child did not answer.
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

    /// Of all processors' time, in latency samples: a 99th percentile is made by one operation in a hundred.
    private static let latencyPart = 0.01
    /// Of the elapsed time, in others: their figures are sums over all operations.
    private static let otherPart = 0.25
    /// Two of the kernel's units of 10 ms: the error of a difference.
    private static let leastForeign = 20e6

    /// Whether a sample of that kind is noisy. Fixed thresholds, on nothing that the sample itself decides: more than a
    /// fiftieth of the time stolen, other processes busy for longer than the kind allows, any throttling, or the reference
    /// loop a quarter slower than calibrated.
    func disturbs(_ kind: SampleKind) -> Bool {
        let foreignLimit = kind == .latency ? Self.latencyPart * processors * elapsed : Self.otherPart * elapsed
        if let steal, steal > 0.02 * elapsed, steal > 10e6 { return true }
        if let foreign, foreign > max(foreignLimit, Self.leastForeign) { return true }
        if let throttled, throttled > 0 { return true }
        if let referenceLoop, referenceLoop > 1.25 * Double(ReferenceLoop.nominal) { return true }
        return false
    }

    /// As rows' figures; an absent one gives none.
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

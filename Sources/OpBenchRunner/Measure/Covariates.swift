import Glibc
import OpBenchModel

/// What surrounded a sample: read by the parent just before the child starts and just after it ends, so that the child
/// spends nothing on it.
struct Covariates: Sendable {
    /// Sums since boot, in seconds; nil where the system does not tell.
    var steal: Double?
    var pressure: Double?
    var throttled: Double?
    var load: Double?
    var instant: Int64 = 0

    static func now() -> Covariates {
        Covariates(
            steal: steal(inStat: SystemFile.text("/proc/stat")),
            pressure: pressure(inPSI: SystemFile.text("/proc/pressure/cpu")),
            throttled: throttled(inCgroup: SystemFile.text(SystemFile.cpuStatistics)),
            load: SystemFile.text("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) },
            instant: MonotonicClock.now())
    }

    /// The eighth number of the line `cpu`, in ticks.
    static func steal(inStat text: String) -> Double? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("cpu ") }) else { return nil }
        let numbers = line.split(separator: " ").dropFirst()
        guard numbers.count >= 8, let ticks = Double(numbers[numbers.startIndex + 7]) else { return nil }
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

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
        elapsed = seconds(after.instant - before.instant)
        anchor = anchorNanoseconds.max().map(seconds)
    }

    /// Fixed thresholds, on nothing that the sample itself decides: more than a fiftieth of the time stolen, any
    /// throttling, or the anchor loop a quarter slower than calibrated.
    var isStorm: Bool {
        if let steal, steal > 0.02 * elapsed, steal > 0.01 { return true }
        if let throttled, throttled > 0 { return true }
        if let anchor, anchor > 1.25 * Double(Anchor.nominal) / 1e9 { return true }
        return false
    }

    /// As rows' figures; an absent one gives none.
    func figures(operations: Int) -> [SampleReport.Figure] {
        let all: [(Metric, String, Double?)] = [
            (.anchorTime, "max", anchor), (.stealTime, "total", steal), (.cpuPressure, "total", pressure),
            (.throttledTime, "total", throttled), (.load, "mean", load),
        ]
        return all.compactMap { metric, stat, value in
            value.map { .init(metric: metric.name, stat: stat, value: $0, operations: operations) }
        }
    }
}

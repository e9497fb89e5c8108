import OpBenchModel

/// What else used the machine while one sample was taken, and whether that disturbed it.
struct Interference: Sendable {
    var steal: Double?
    var pressure: Double?
    var throttled: Double?
    var load: Double?
    var foreign: Double?
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
        referenceLoop = referenceLoopNanoseconds.max().map(Double.init)
    }

    /// Fixed thresholds, on nothing that the sample itself decides: more than a fiftieth of the time stolen, other
    /// processes busy for more than a quarter of it, any throttling, or the reference loop a quarter slower than calibrated.
    /// Times of less than a few of the kernel's ticks of 10 ms do not count.
    var isNoisy: Bool {
        if let steal, steal > 0.02 * elapsed, steal > 10e6 { return true }
        if let foreign, foreign > 0.25 * elapsed, foreign > 30e6 { return true }
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

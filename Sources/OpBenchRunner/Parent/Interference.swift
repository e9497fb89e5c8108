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

import OpBenchBackends
import OpBenchModel

/// Finds the highest rate of arrivals at which a backend keeps up and the 99th percentile is within a bound. Latency
/// counts from the intended instant of submitting to the end, so it includes any delay by the queue or the submitting
/// thread.
///
/// A rate holds if it holds in two of three tries, each with newly drawn arrivals.
struct RateSearch {
    private let tries: RateTries
    private let bound: Int64

    init?(_ trial: Trial) {
        guard let arrivals = trial.plan.arrivals, let bound = arrivals.boundNanoseconds else { return nil }
        tries = RateTries(trial, nanoseconds: { _ in arrivals.durationNanoseconds })
        self.bound = bound
    }

    func run(into report: inout SampleReport) {
        let range = tries.range
        guard let (rate, held) = tries.highestRate(into: &report, holds: { $0.keepsUp && $0.intendedP99 <= bound })
        else {
            return report.note("no rate holds: even \(range.lowerBound) arrivals per second exceed the bound")
        }
        var analysis = held[0]
        for other in held.dropFirst() { analysis.merge(other) }
        analysis.report(rounds: held.count, into: &report)
        report.add(.sustainedRate, "rate", Double(rate), operations: held[0].plan.operationCount)
        if rate == range.upperBound { report.note("the highest rate tried") }
    }
}

/// Measures the capacity of a backend: the number of arrivals per second that it keeps up with. A load is a part of it.
/// The arrivals are of the same kind as in the sample, so the submitting thread takes the same share of the machine.
struct CapacityTrial {
    private let whole: Trial
    private let tries: RateTries

    /// The least number of operations of a try, unless the duration limits it.
    private static let leastOperations = 1000.0

    init(_ trial: Trial) {
        let duration = trial.plan.arrivals?.durationNanoseconds ?? 0
        whole = trial
        tries = RateTries(
            trial,
            nanoseconds: { rate in
                min(
                    duration,
                    max(ShapeDefinition.capacityTryNanoseconds, Int(Self.leastOperations * 1e9 / Double(rate))))
            })
    }

    /// The trial at a part of the capacity; nil, with a note, if no capacity was found.
    func trial(at load: Double, into report: inout SampleReport) -> Trial? {
        guard let (capacity, held) = tries.highestRate(into: &report, holds: \.keepsUp) else {
            report.note("no capacity: even \(tries.range.lowerBound) arrivals per second are too many")
            return nil
        }
        report.add(.capacity, "rate", Double(capacity), operations: held[0].plan.operationCount)
        let rate = (load * Double(capacity)).rounded()
        return whole.arriving(perSecond: Int(min(max(1, rate), Double(tries.range.upperBound))))
    }
}

extension RoundAnalysis {
    fileprivate var keepsUp: Bool { !(keepingUp[""]?.isOverloaded ?? false) }
}

/// Rounds of an open loop, each at one rate.
struct RateTries {
    private let trial: Trial
    /// The duration of arrivals at a rate, in nanoseconds.
    private let nanoseconds: (Int) -> Int

    /// With fewer operations a percentile means nothing; with more, stamps take too much memory.
    private static let operationsPerTry = 100...2_000_000
    /// The search ends when the ratio between a rate that does not hold and one that does is at most this.
    static let precision = 1.05
    private static let triesToDecide = 2

    init(_ trial: Trial, nanoseconds: @escaping (Int) -> Int) { (self.trial, self.nanoseconds) = (trial, nanoseconds) }

    /// Finds the highest rate that holds, and returns it with its tries.
    func highestRate(
        into report: inout SampleReport, holds: (RoundAnalysis) -> Bool
    ) -> (rate: Int, tries: [RoundAnalysis])? {
        var tries: [Int: [RoundAnalysis]] = [:]
        let found = Self.highestRate(from: ShapeDefinition.searchedRateFirst, in: range) { rate in
            var (held, missed) = (0, 0)
            while max(held, missed) < Self.triesToDecide {
                let analysis = attempt(rate, seedOffset: held + missed, into: &report)
                tries[rate, default: []].append(analysis)
                if holds(analysis) { held += 1 } else { missed += 1 }
            }
            return held > missed
        }
        return found.flatMap { rate in tries[rate].map { (rate, $0) } }
    }

    /// Runs one round at the rate.
    private func attempt(_ rate: Int, seedOffset: Int, into report: inout SampleReport) -> RoundAnalysis {
        let plan = trial.plan.arriving(perSecond: rate, seedOffset: seedOffset, nanoseconds: nanoseconds(rate))
        let body = OperationBody(plan: plan, kernel: trial.kernel, mode: .stamped)
        defer { body.deallocate() }
        let producers = Producers(plan)
        defer { producers.dismiss() }
        let round = Round.run(plan, by: trial.factory, body, producers: producers)
        trial.judge(body, in: plan, into: &report)
        var analysis = RoundAnalysis(plan: plan)
        analysis.add(round, body)
        return analysis
    }

    /// The range of rates that can be tried within the duration.
    var range: ClosedRange<Int> {
        let perSecond = 1e9 / Double(max(1, trial.plan.arrivals?.durationNanoseconds ?? 0))
        func rate(_ operations: Int) -> Int {
            min(ShapeDefinition.arrivalRateLimit, max(1, Int((Double(operations) * perSecond).rounded(.up))))
        }
        return rate(Self.operationsPerTry.lowerBound)...rate(Self.operationsPerTry.upperBound)
    }

    /// The highest rate that holds, to within `precision`; nil if the lowest of the range does not.
    ///
    /// Multiplies or divides by four until one rate holds and another does not, then bisects on a logarithmic scale.
    static func highestRate(from first: Int, in range: ClosedRange<Int>, holds: (Int) -> Bool) -> Int? {
        var rate = min(max(first, range.lowerBound), range.upperBound)
        var (held, missed): (Int?, Int?) = (nil, nil)
        while held == nil || missed == nil {
            if holds(rate) {
                held = rate
                if rate == range.upperBound { return rate }
                rate = min(rate * 4, range.upperBound)
            } else {
                missed = rate
                if rate == range.lowerBound { return nil }
                rate = max(rate / 4, range.lowerBound)
            }
        }
        guard var low = held, var high = missed else { return held }
        while Double(high) > Double(low) * precision, high - low > 1 {
            let middle = Int((Double(low) * Double(high)).squareRoot().rounded())
            if holds(middle) { low = middle } else { high = middle }
        }
        return low
    }
}

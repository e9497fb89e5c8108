import OpBenchBackends
import OpBenchModel

/// Finds the highest rate of arrivals at which a backend keeps the 99th percentile within a bound: from the intended
/// instant of submitting to the end, so that what the queue or the submitting thread is late by counts.
///
/// A rate holds if two of three tries keep the bound, each with arrivals drawn anew.
struct RateSearch {
    let trial: Trial
    let arrivals: Arrivals
    let bound: Int64

    /// A percentile of fewer operations says nothing, and stamps of more take too much memory.
    private static let operationsPerTry = 100...2_000_000
    /// The search ends when the rates that hold and that do not are so near to each other.
    static let precision = 1.05
    private static let triesToDecide = 2

    init?(_ trial: Trial) {
        guard let arrivals = trial.plan.arrivals, let bound = arrivals.boundNanoseconds else { return nil }
        (self.trial, self.arrivals, self.bound) = (trial, arrivals, bound)
    }

    func run(into report: inout SampleReport) {
        var tries: [Int: [RoundAnalysis]] = [:]
        let found = Self.highestRate(from: ShapeDefinition.searchedRateFirst, in: range) { rate in
            var (held, missed) = (0, 0)
            while max(held, missed) < Self.triesToDecide {
                let analysis = attempt(rate, seedOffset: held + missed, into: &report)
                tries[rate, default: []].append(analysis)
                if analysis.intendedP99 <= bound { held += 1 } else { missed += 1 }
            }
            return held > missed
        }
        guard let found, var analysis = tries[found]?.first else {
            return report.note("no rate holds: \(range.lowerBound) arrivals per second exceed the bound already")
        }
        for other in tries[found]!.dropFirst() { analysis.merge(other) }
        analysis.report(rounds: tries[found]!.count, into: &report)
        report.add(.sustainedRate, "rate", Double(found), operations: tries[found]![0].plan.operationCount)
        if found == range.upperBound { report.note("the highest rate tried") }
    }

    /// One round at that rate.
    private func attempt(_ rate: Int, seedOffset: Int, into report: inout SampleReport) -> RoundAnalysis {
        let plan = trial.plan.arriving(perSecond: rate, seedOffset: seedOffset)
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

    private var range: ClosedRange<Int> {
        let perSecond = 1e9 / Double(arrivals.durationNanoseconds)
        func rate(_ operations: Int) -> Int {
            min(ShapeDefinition.arrivalRateLimit, max(1, Int((Double(operations) * perSecond).rounded(.up))))
        }
        return rate(Self.operationsPerTry.lowerBound)...rate(Self.operationsPerTry.upperBound)
    }

    /// The highest rate that holds, to within `precision`; nil if the lowest of the range does not.
    ///
    /// Goes up or down by factors of four until it has one that holds and one that does not, then halves what is between
    /// them on a logarithmic scale.
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

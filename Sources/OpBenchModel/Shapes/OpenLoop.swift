import Glibc

extension Shape { public static let openLoop = Shape("open_loop") }

extension ShapeDefinition {
    /// Operations that arrive at a rate, whether earlier ones have ended or not.
    static let openLoop = ShapeDefinition(
        shape: .openLoop,
        summary: "Operations that arrive at a fixed rate, whether the queue keeps up or not.",
        parameters: [
            .init(
                name: "rate", format: .wholeNumber(1...arrivalRateLimit, orWord: "search"),
                defaultValue: .integer(10_000),
                summary:
                    "Arrivals per second; \"search\" finds the highest rate whose 99th percentile, from the "
                    + "intended arrival to the end, is within bound_ns.",
                unit: "1/s"),
            .init(
                name: "load", format: .realNumber(0...10), defaultValue: .number(0),
                summary:
                    "Instead of rate: arrivals per second as a fraction of the backend's capacity, which each sample "
                    + "measures first: 0.8 is 80 % of the highest rate that the backend keeps up with. 0 uses rate."
            ),
            .choice(
                "arrivals", ["poisson", "constant"],
                "Gaps from the exponential distribution, or all of the same length."),
            .nanoseconds(
                "duration_ns", 1_000_000...60_000_000_000, 500_000_000,
                "The time during which operations arrive; in a search, in each trial."),
            .nanoseconds(
                "bound_ns", 1000...10_000_000_000, 1_000_000, "The bound of a rate search; not used otherwise."),
            stall,
            .choice(
                "stalls", ["operation", "submitter"],
                "Used with stall_ns: what stalls, an operation or the submitting thread."),
        ] + common(work: 1000),
        operationCount: { Arrivals($0).count(perSecond: $0.arrivalRate ?? searchedRateFirst) },
        kinds: [.latency, .check],
        problem: { cell in
            if cell.load > 0, cell.arrivalRate != searchedRateFirst {
                return ("it has a rate and a load", "leave one of them out")
            }
            guard cell.measuresRate, cell.integer("stall_ns") > 0 else { return nil }
            return ("it searches a rate and stalls", "give a rate, or leave stall_ns at 0")
        },
        estimate: RoundEstimate(
            pause: { cell in Double(cell.integer("duration_ns")) / 1e9 },
            latencyRounds: { cell in
                guard cell.measuresRate else { return nil }
                guard cell.load > 0 else { return searchRounds }
                let part = Double(capacityTryNanoseconds) / Double(cell.integer("duration_ns"))
                return 1 + searchRounds * min(1, part)
            }),
        sketch: { $0.reduced(["duration_ns"]) },
        plan: { cell, plan in
            let arrivals = Arrivals(cell)
            plan.form = .closure
            plan.detail = arrivals
            plan.pacing = .arrivals(
                arrivals.instants(count: plan.operationCount, perSecond: cell.arrivalRate ?? searchedRateFirst))
            plan.stall = Stall(cell, of: plan.operationCount)
            plan.stall?.stallsSubmitter = cell.text("stalls") == "submitter"
        })

    /// The greatest rate of arrivals, per second.
    public static let arrivalRateLimit = 10_000_000
    /// The rate per second at which a search begins. Checks use it too if the rate is to be measured.
    public static let searchedRateFirst = 10_000
    /// The duration of one trial when a capacity is measured, unless the duration is shorter or few operations arrive
    /// in it.
    package static let capacityTryNanoseconds = 50_000_000
    /// The number of rounds until a searched rate is found, roughly.
    private static let searchRounds = 20.0
}

extension Cell {
    /// The rate of arrivals per second; nil for `"search"`.
    public var arrivalRate: Int? { parameters["rate"]?.integer }

    /// The fraction of a backend's capacity that arrives; 0 if the rate sets the arrivals.
    var load: Double { shape == .openLoop ? number("load") : 0 }

    /// Whether a sample determines the rate of arrivals itself.
    var measuresRate: Bool { shape == .openLoop && (arrivalRate == nil || load > 0) }
}

/// The distribution of arrivals in an open loop, before a rate is chosen.
package struct Arrivals: ShapeDetail {
    package enum Gaps: String, Sendable { case poisson, constant }

    package var gaps: Gaps
    package var durationNanoseconds: Int
    package var seed: Int
    /// In a search, the bound of the 99th percentile; nil if the rate is given.
    package var boundNanoseconds: Int64?
    /// The fraction of the backend's capacity that arrives; nil if the rate is given or searched for.
    package var load: Double?

    package init(_ cell: Cell) {
        load = cell.load > 0 ? cell.load : nil
        gaps = Gaps(rawValue: cell.text("arrivals")) ?? .poisson
        durationNanoseconds = cell.integer("duration_ns")
        seed = cell.integer("seed")
        boundNanoseconds = cell.arrivalRate == nil ? Int64(cell.integer("bound_ns")) : nil
    }

    /// The instants of `count` arrivals, in nanoseconds from the first.
    package func instants(count: Int, perSecond rate: Int) -> [Int64] {
        let gap = 1e9 / Double(rate)
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        var instant = 0.0
        return (0..<count).map { index in
            defer { instant = gaps == .constant ? Double(index + 1) * gap : instant - log(1 - generator.unit()) * gap }
            return Int64(instant)
        }
    }

    /// The number of operations that arrive in the duration at that rate.
    package func count(perSecond rate: Int) -> Int {
        max(1, Int(Double(rate) * Double(durationNanoseconds) / 1e9))
    }
}

extension WorkloadPlan {
    /// The source of the plan's pace; nil in other shapes.
    package var arrivals: Arrivals? { detail(Arrivals.self) }

    /// The plan with another rate of arrivals, another seed and optionally a shorter duration.
    package func arriving(perSecond rate: Int, seedOffset: Int = 0, nanoseconds: Int? = nil) -> WorkloadPlan {
        guard var arrivals else { return self }
        var plan = self
        arrivals.durationNanoseconds = nanoseconds ?? arrivals.durationNanoseconds
        plan.operationCount = arrivals.count(perSecond: rate)
        plan.itemCount = plan.operationCount
        arrivals.seed += seedOffset
        plan.pacing = .arrivals(arrivals.instants(count: plan.operationCount, perSecond: rate))
        return plan
    }
}

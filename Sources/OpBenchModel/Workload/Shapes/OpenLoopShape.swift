extension ShapeDefinition {
    /// Operations that arrive at a rate, whatever became of those before.
    static let openLoop = ShapeDefinition(
        shape: .openLoop,
        summary: "Operations that arrive at a fixed rate, however far the queue has come.",
        parameters: [
            .init(
                name: "rate", kind: .integerOr(keyword: "search", 1...arrivalRateLimit),
                defaultValue: .integer(10_000),
                summary:
                    "Arrivals per second; \"search\" for the highest rate that keeps the 99th percentile, from the "
                    + "intended instant of submitting to the end, within bound_ns.",
                unit: "1/s"),
            .choice(
                "arrivals", ["poisson", "constant"],
                "Gaps drawn from the exponential distribution, or all of the same length."),
            .nanoseconds(
                "duration_ns", 1_000_000...60_000_000_000, 500_000_000,
                "How long operations arrive; in a search, in each try."),
            .nanoseconds(
                "bound_ns", 1000...10_000_000_000, 1_000_000, "Used by rate search only: the bound to keep."),
            stall,
            .choice(
                "stalls", ["operation", "submitter"],
                "Used with stall_ns: what stands still, an operation or the thread that submits."),
        ] + common(work: 1000),
        operationCount: { cell in
            max(1, Int(Double(cell.arrivalRate ?? searchedRateFirst) * Double(cell.integer("duration_ns")) / 1e9))
        },
        kinds: [.latency, .check],
        problem: { cell in
            guard cell.arrivalRate == nil, cell.integer("stall_ns") > 0 else { return nil }
            return ("it searches a rate and stalls", "give a rate, or leave stall_ns at 0")
        })

    /// The greatest rate of arrivals, per second.
    public static let arrivalRateLimit = 10_000_000
    /// Where the search of a rate begins, per second.
    public static let searchedRateFirst = 10_000

    /// Something that stands still once.
    static let stall = ParameterDefinition.nanoseconds(
        "stall_ns", 0...10_000_000_000, 0,
        "The operation in the middle stands still for this long, asleep, like a page that is fetched or a lock that is "
            + "held; 0 for none.")
}

extension Cell {
    /// The rate of arrivals per second; nil for `"search"`.
    public var arrivalRate: Int? {
        guard case .integer(let rate) = parameters["rate"] else { return nil }
        return rate
    }
}

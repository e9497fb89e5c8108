// What the parameters of several shapes have in common.

extension ShapeDefinition {
    /// The greatest number of operations in one cell: at some hundred bytes each, what 8 GB of memory hold.
    public static let operationLimit = 20_000_000
    /// The longest that one round may pause or last by its parameters alone, in seconds.
    static let secondsLimit = 600.0
    /// The greatest `max_concurrent`: the engine's bound on threads.
    static let concurrencyLimit = 512
    /// The greatest whole number that JSON readers agree on, 2^53 − 1.
    static let exactIntegerLimit = 9_007_199_254_740_991

    static let producers = ParameterDefinition.count(
        "producers", 1...256, 1, "Threads that submit, each an equal share of the operations.")

    /// Something that stands still once.
    static let stall = ParameterDefinition.nanoseconds(
        "stall_ns", 0...10_000_000_000, 0,
        "The operation in the middle stands still for this long, asleep, like a page that is fetched or a lock that is "
            + "held; 0 for none.")

    /// What every shape has.
    static func common(work: Int) -> [ParameterDefinition] {
        [
            .nanoseconds(
                "work_ns", 0...1_000_000_000, work, "Calibrated CPU work of one item, or of one operation; 0 for none."),
            .init(
                name: "max_concurrent", kind: .integerOr(keyword: "default", 1...concurrencyLimit),
                defaultValue: .text("default"),
                summary: "The queue's limit on operations running at once, or the system's choice.", unit: "count"),
            .init(
                name: "seed", kind: .integer(0...exactIntegerLimit), defaultValue: .integer(1),
                summary:
                    "Draws the plan: which operation has which priority, when each arrives. Block b draws with seed + b, "
                    + "memory samples with seed. No part of a cell_id.",
                takesList: false),
        ]
    }
}

extension ParameterDefinition {
    static func count(_ name: String, _ range: ClosedRange<Int>, _ value: Int, _ summary: String) -> Self {
        .init(name: name, kind: .integer(range), defaultValue: .integer(value), summary: summary, unit: "count")
    }

    static func nanoseconds(
        _ name: String, _ range: ClosedRange<Int>, _ value: Int, _ summary: String
    ) -> Self {
        .init(name: name, kind: .integer(range), defaultValue: .integer(value), summary: summary, unit: "ns")
    }

    /// The first choice is the default.
    static func choice(_ name: String, _ choices: [String], _ summary: String) -> Self {
        .init(name: name, kind: .choice(choices), defaultValue: .text(choices[0]), summary: summary)
    }
}

// Parameters that several shapes share.

extension ShapeDefinition {
    /// The greatest number of operations in one cell: at several hundred bytes each, they fit in 8 GB of memory.
    public static let operationLimit = 20_000_000
    /// The longest pause or duration of one round that parameters may set, in seconds.
    static let secondsLimit = 600.0
    /// The greatest `max_concurrent`: the engine's bound on threads.
    static let concurrencyLimit = 512
    /// The greatest whole number that JSON readers agree on, 2^53 − 1.
    static let exactIntegerLimit = 9_007_199_254_740_991

    static let producers = ParameterDefinition.count(
        "producers", 1...256, 1, "Threads that submit, each an equal share of the operations.")

    static let form = ParameterDefinition.choice(
        "form", ["closure", "block", "subclass"],
        "The form of an operation: a closure, a BlockOperation, or an Operation subclass that overrides main.")

    /// A stall in the middle of a round.
    static let stall = ParameterDefinition.nanoseconds(
        "stall_ns", 0...10_000_000_000, 0,
        "The operation in the middle sleeps for this long, as if a page were fetched or a lock were "
            + "held; 0 for none.")

    /// The parameters of every shape.
    static func common(work: Int) -> [ParameterDefinition] {
        [
            .nanoseconds(
                "work_ns", 0...1_000_000_000, work, "Calibrated CPU work of one item, or of one operation; 0 for none."),
            .init(
                name: "body", format: .body, defaultValue: BodyChoice.cpu.value,
                summary: "What an item does: \"cpu\" works for work_ns, any other body does something else instead."),
            .init(
                name: "max_concurrent", format: .wholeNumber(1...concurrencyLimit, orWord: "default"),
                defaultValue: .text("default"),
                summary: "The queue's limit on concurrent operations; \"default\" leaves it to the system.",
                unit: "count"),
            .init(
                name: "seed", format: .wholeNumber(0...exactIntegerLimit), defaultValue: .integer(1),
                summary:
                    "The seed of all random choices, such as priorities and arrivals. Block b uses seed + b, "
                    + "samples of memory and instructions use seed. Not part of a cell_id.",
                takesList: false),
        ]
    }
}

extension Stall {
    /// Nil if the cell has no stall.
    init?(_ cell: Cell, of operations: Int) {
        let nanoseconds = cell.integer("stall_ns")
        guard nanoseconds > 0 else { return nil }
        self.init(nanoseconds: nanoseconds, operation: operations / 2)
    }
}

extension WorkloadPlan {
    /// The operations of a refilled batch; nil for other ways of submission.
    public var refillWindow: Int? {
        if case .refill(let window) = submission { window } else { nil }
    }

    public var isRefill: Bool { refillWindow != nil }

    /// Whether an operation has a completion block that could be timed: `addOperation { }` makes nothing that has one.
    ///
    /// Backends ask for each operation: patterns, since `==` would be a call in another module's code.
    @inlinable public var hasCompletionBlocks: Bool {
        guard case .closure = form else { return true }
        if case .bulk = submission { return true }
        return false
    }

    /// Whether closures are handed to the queue one by one, with no object made before.
    public var makesClosuresOnly: Bool { form == .closure && submission == .each }

    // MARK: Pace

    /// The operation that stands still in its body; -1 for none.
    public var stalledOperation: Int { stall.map { $0.stallsSubmitter ? -1 : $0.operation } ?? -1 }

    /// Whether the submitting call waits for operations, so that submitting cannot be told from draining.
    public var submitsWhileDraining: Bool {
        isRefill || pacing != nil || phases.contains { $0.plan.submitsWhileDraining }
    }

    /// Whether the pace alone decides how long a round takes, unless the queue falls behind.
    public var isOpenLoop: Bool {
        if case .arrivals = pacing { true } else { false }
    }
}

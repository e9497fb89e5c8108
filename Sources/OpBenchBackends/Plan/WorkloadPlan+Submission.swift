extension WorkloadPlan {
    /// The operations of a refilled batch; nil for other ways of submission.
    package var refillWindow: Int? {
        if case .refill(let window) = submission { window } else { nil }
    }

    package var isRefill: Bool { refillWindow != nil }

    /// Whether an operation has a completion block that could be timed: `addOperation { }` makes nothing that has one.
    package var hasCompletionBlocks: Bool { form != .closure || submission == .bulk }

    /// Whether closures are handed to the queue one by one, with no object made before.
    package var makesClosuresOnly: Bool { form == .closure && submission == .each }

    // MARK: Pace

    /// The operation that stands still in its body; -1 for none.
    package var stalledOperation: Int { stall.map { $0.stallsSubmitter ? -1 : $0.operation } ?? -1 }

    /// Whether the submitting call waits for operations, so that submitting cannot be told from draining.
    package var submitsWhileDraining: Bool {
        isRefill || pacing != nil || phases.contains { $0.plan.submitsWhileDraining }
    }

    /// Whether the pace alone decides how long a round takes, unless the queue falls behind.
    package var isOpenLoop: Bool {
        if case .arrivals = pacing { true } else { false }
    }
}

extension WorkloadPlan {
    /// The plan with operations arriving at another rate, drawn by another seed.
    package func arriving(perSecond rate: Int, seedOffset: Int = 0) -> WorkloadPlan {
        guard var arrivals else { return self }
        var plan = self
        plan.operationCount = arrivals.count(perSecond: rate)
        plan.itemCount = plan.operationCount
        arrivals.seed += seedOffset
        plan.pacing = .arrivals(arrivals.instants(count: plan.operationCount, perSecond: rate))
        return plan
    }
}

extension WorkloadPlan {
    /// When operations are submitted, where not as fast as they can be.
    enum Pacing: Sendable, Equatable {
        /// So many at once, by one thread, each burst when the one before has ended and a pause has passed, in which the
        /// thread sleeps or stays awake.
        case bursts(size: Int, pauseNanoseconds: Int, staysAwake: Bool = false)
        /// Each at an instant of its own, by one thread, whatever became of those before: in nanoseconds from the first
        /// one's, ascending.
        case arrivals([Int64])
    }

    /// Something that stands still once, in the middle of a round.
    struct Stall: Sendable, Equatable {
        var nanoseconds: Int
        /// The operation that sleeps so long in its body, or before whose submission the submitting thread does.
        var operation: Int
        var stallsSubmitter = false
    }

    /// The operation that stands still in its body; -1 for none.
    var stalledOperation: Int { stall.map { $0.stallsSubmitter ? -1 : $0.operation } ?? -1 }

    /// Whether the submitting call waits for operations, so that submitting cannot be told from draining.
    var submitsWhileDraining: Bool { isRefill || pacing != nil || phases.contains { $0.plan.submitsWhileDraining } }

    /// Whether the pace alone decides how long a round takes, unless the queue falls behind.
    var isOpenLoop: Bool {
        if case .arrivals = pacing { true } else { false }
    }
}

extension WorkloadPlan.Pacing {
    /// The same sequence as fast as it goes, for the warm-up; nil where nothing else is left of the pace.
    var hurried: WorkloadPlan.Pacing? {
        switch self {
        case .bursts(let size, _, _): .bursts(size: size, pauseNanoseconds: 0)
        case .arrivals: nil
        }
    }

    /// That of the first operations alone.
    func prefix(_ count: Int) -> WorkloadPlan.Pacing {
        switch self {
        case .bursts: self
        case .arrivals(let instants): .arrivals(Array(instants.prefix(count)))
        }
    }
}

extension WorkloadPlan {
    /// When operations are submitted, where not as fast as they can be.
    enum Pacing: Sendable, Equatable {
        /// So many at once, by one thread, each burst when the one before has ended and a pause has passed.
        case bursts(size: Int, pauseNanoseconds: Int)
    }

    /// Whether the submitting call waits for operations, so that submitting cannot be told from draining.
    var submitsWhileDraining: Bool { isRefill || pacing != nil }
}

extension WorkloadPlan.Pacing {
    /// The same sequence as fast as it goes, for the warm-up.
    var hurried: WorkloadPlan.Pacing? {
        switch self {
        case .bursts(let size, _): .bursts(size: size, pauseNanoseconds: 0)
        }
    }
}

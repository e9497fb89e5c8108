import OpBenchModel

/// What an operation does that occupies its thread and no processor. One object a body, for all rounds.
package final class BlockedWork: @unchecked Sendable {
    private let plan: WorkloadPlan
    private let nanoseconds: Int64
    /// How the backend waits for an operation's end. Set between rounds only.
    package var wait: (@Sendable (Int) -> Void)?

    package init(_ plan: WorkloadPlan) {
        self.plan = plan
        nanoseconds = Int64(plan.blocking?.nanoseconds ?? 0)
    }

    /// Sleeps, or waits for the operation's partner.
    ///
    /// - Returns: the partner that was waited for.
    package func block(_ operation: Int) -> Int? {
        guard let partner = plan.partner(of: operation) else {
            MonotonicClock.sleep(until: MonotonicClock.now() + nanoseconds)
            return nil
        }
        wait?(partner)
        return partner
    }
}

import OpBenchModel

/// What an operation does that occupies its thread and no processor. One object a body, for all rounds.
public final class BlockedWork: @unchecked Sendable {
    private let blocking: Blocking
    private let operationCount: Int
    /// How the backend waits for an operation's end. Set between rounds only.
    public var wait: (@Sendable (Int) -> Void)?

    package init(_ blocking: Blocking, of operationCount: Int) {
        self.blocking = blocking
        self.operationCount = operationCount
    }

    /// Sleeps, or waits for the operation's partner.
    ///
    /// - Returns: the partner that was waited for.
    public func block(_ operation: Int) -> Int? {
        guard let partner = blocking.partner(of: operation, among: operationCount) else {
            MonotonicClock.sleep(until: MonotonicClock.now() + Int64(blocking.nanoseconds))
            return nil
        }
        wait?(partner)
        return partner
    }
}

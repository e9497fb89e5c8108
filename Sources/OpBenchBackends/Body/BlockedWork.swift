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

    /// How long an operation sleeps that waits for no other one.
    var nanoseconds: Int64 { Int64(blocking.nanoseconds) }

    /// The operation that this one waits for; nil if it sleeps.
    func partner(of operation: Int) -> Int? { blocking.partner(of: operation, among: operationCount) }
}

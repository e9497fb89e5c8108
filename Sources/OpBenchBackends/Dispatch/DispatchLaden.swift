/// Closures that wait in a lane, with what they keep: memory fences.
final class DispatchLaden: DispatchRound, @unchecked Sendable {
    override func work(_ operation: Int) -> @Sendable () -> Void {
        body.closure(operation, payloadBytes: plan.payloadBytes)
    }
}

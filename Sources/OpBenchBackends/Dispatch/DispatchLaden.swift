import OpBenchModel

/// Closures that wait in a lane, with what they keep: memory fences.
final class DispatchLaden: DispatchRound, @unchecked Sendable {
    private let payloadBytes: Int

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        payloadBytes = plan.ballast?.bytes ?? 0
        super.init(plan, body)
    }

    override func work(_ operation: Int) -> @Sendable () -> Void {
        body.closure(operation, payloadBytes: payloadBytes)
    }
}

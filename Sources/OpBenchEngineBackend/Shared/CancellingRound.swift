import OpBenchBackends
import OpBenchModel

/// Operations that are cancelled.
final class CancellingRound: QueueRound, @unchecked Sendable {
    override func cancel(_ part: Range<Int>) {
        guard let cancellation = plan.cancellation else { return }
        if case .all = cancellation.call { return queue.cancelAllOperations() }
        for number in part where cancellation.isChosen[number] { operations[number].cancel() }
    }

    override func attest() {
        for (number, operation) in operations.enumerated() where operation.isCancelled && operation.isFinished {
            body.didEndCancelled(number)
        }
    }
}

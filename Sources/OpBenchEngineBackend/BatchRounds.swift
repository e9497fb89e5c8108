import OpBenchBackends
import OpBenchModel

/// Refilled batches of closures, of which the last body submits the next.
final class CountedRound: QueueRound, @unchecked Sendable {
    private let batches: CountedBatches?

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        batches = CountedBatches(plan)
        super.init(plan, body)
    }

    deinit { batches?.deallocate() }

    override func makeOperations() {}

    override func submit(_ part: Range<Int>) { submitBatch(part.lowerBound) }

    override func drain() {
        batches?.wait()
        super.drain()
    }

    private func submitBatch(_ operation: Int) {
        // The round outlives its operations, since `drain` waits for them.
        let round = Unretained(self)
        batches?.submitNext(operation) { operation in
            body.willSubmit(operation)
            queue.addOperation { round { $0.run(operation) } }
            body.didSubmit(operation)
        }
    }

    private func run(_ operation: Int) {
        body.run(operation)
        if let batches, batches.didEnd(operation, body) { submitBatch(operation) }
    }
}

/// Refilled batches of closures, each with a barrier behind it that submits the next.
final class BarrierBatchRound: QueueRound, @unchecked Sendable {
    private let refill: Refill

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        refill = Refill(window: plan.refillWindow ?? plan.operationCount, streams: plan.parts.count)
        super.init(plan, body)
    }

    override func makeOperations() {}

    override func submit(_ part: Range<Int>) {
        let batch = part.prefix(refill.window)
        let rest = batch.upperBound..<part.upperBound
        let round = Unretained(self)
        refill.willSubmit()
        for operation in batch {
            body.willSubmit(operation)
            queue.addOperation { [body] in body.run(operation) }
            body.didSubmit(operation)
        }
        queue.addBarrierBlock {
            round {
                for operation in batch { $0.body.didNotify(operation) }
                if rest.isEmpty { $0.refill.streamEnded() } else { $0.submit(rest) }
            }
        }
        refill.didSubmit()
    }

    override func drain() {
        refill.wait()
        super.drain()
    }
}

import OpBenchBackends
import OpBenchModel

/// Independent operations: one by one, in bulk, or in batches of which each submits the next when its last operation ends.
final class StreamRound: QueueRound, @unchecked Sendable {
    private let refill: Refill?

    required init(_ plan: WorkloadPlan, _ body: OperationBody, _ make: @escaping Make, _ hasWait: Bool) {
        refill = plan.refillWindow.map { Refill(window: $0, streams: plan.parts.count) }
        super.init(plan, body, make, hasWait)
    }

    override func submit(_ part: Range<Int>) {
        if let refill { return submitBatch(of: part, refill) }
        guard plan.submission == .bulk else { return super.submit(part) }
        let queue = queues[0].queue
        begin(part.count)
        body.submitTogether(part, in: plan) {
            if let queue = queue as? any BulkQueue {
                queue.submit(contentsOf: part.map(work))
            } else {
                for operation in part { queue.submit(work(operation)) }
            }
        }
    }

    override func drain() {
        refill?.wait()
        super.drain()
    }

    private func submitBatch(of part: Range<Int>, _ refill: Refill) {
        let batch = Batch(round: self, operations: part.prefix(refill.window), end: part.upperBound, refill)
        let queue = queues[0].queue
        begin(batch.operations.count)
        refill.willSubmit()
        for operation in batch.operations {
            body.willSubmit(operation)
            queue.submit { batch.run(operation) }
            body.didSubmit(operation)
        }
        refill.didSubmit()
    }

    /// Operations that are submitted together, and what comes after them.
    private final class Batch: Sendable {
        let operations: Range<Int>
        private let rest: Range<Int>
        private let round: StreamRound
        private let refill: Refill
        private let countdown: Countdown

        init(round: StreamRound, operations: Range<Int>, end: Int, _ refill: Refill) {
            (self.round, self.operations, self.refill) = (round, operations, refill)
            rest = operations.upperBound..<end
            countdown = Countdown(operations.count)
        }

        func run(_ operation: Int) {
            round.body.run(operation)
            if countdown.isLast() {
                for operation in operations { round.body.didNotify(operation) }
                if rest.isEmpty { refill.streamEnded() } else { round.submitBatch(of: rest, refill) }
            }
            round.end()
        }
    }
}

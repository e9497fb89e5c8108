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

/// Operations that go on after their closure has returned, until their end is announced: by a thread to which they are
/// handed, or by themselves.
final class AsynchronousRound: QueueRound, @unchecked Sendable {
    private struct Unended: Sendable {
        let operation: Int
        /// Tells the queue, if it is to know.
        let end: Work?
    }

    private var ender: EndingThread<Unended>?

    override func build() {
        super.build()
        guard plan.announcedEnd == .thread else { return }
        // The round outlives the thread, which `teardown` ends.
        unowned(unsafe) let round = self
        ender = EndingThread { round.announce($0) }
    }

    override func submit(_ part: Range<Int>) {
        unowned(unsafe) let round = self
        begin(part.count)
        let queue = queues[0].queue
        let asynchronous = queue as? any AsynchronousQueue
        for operation in part {
            body.willSubmit(operation)
            if let asynchronous {
                asynchronous.submitAsynchronous { round.run(Unended(operation: operation, end: $0)) }
            } else {
                queue.submit { round.run(Unended(operation: operation, end: nil)) }
            }
            body.didSubmit(operation)
        }
    }

    /// Ends the thread before the queue: it may still be telling it of an end.
    override func teardown() {
        ender?.dismiss()
        super.teardown()
    }

    private func run(_ unended: Unended) {
        if isOver { return ranLate() }
        body.run(unended.operation)
        if let ender { ender.take(unended) } else { announce(unended) }
    }

    private func announce(_ unended: Unended) {
        body.didAnnounceEnd(unended.operation)
        unended.end?()
        if notifies(unended.operation) { body.didNotify(unended.operation) }
        end()
    }
}

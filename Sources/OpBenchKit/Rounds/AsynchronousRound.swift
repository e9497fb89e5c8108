import OpBenchBackends
import OpBenchModel

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

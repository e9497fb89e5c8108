import OpBenchBackends
import OpBenchModel

/// Cancellation by a flag for each operation, at which its closure looks first, or by one flag for all.
final class FlaggedRound: QueueRound, @unchecked Sendable {
    private var flags: CancellationFlags?
    private var isOneForAll: Bool { plan.cancellation?.call == .all }

    override func build() {
        super.build()
        flags = CancellationFlags(count: isOneForAll ? 1 : plan.operationCount)
    }

    override func work(_ operation: Int) -> Work {
        guard let flags else { preconditionFailure("not built") }
        unowned(unsafe) let (round, shared) = (self, flags)
        let flag = isOneForAll ? 0 : operation
        let notifies = notifies(operation)
        return {
            if round.isOver { return round.ranLate() }
            if shared.isSet(flag) { round.body.didEndCancelled(operation) } else { round.body.run(operation) }
            if notifies { round.body.didNotify(operation) }
            round.end()
        }
    }

    override func cancel(_ part: Range<Int>) {
        guard let flags, let cancellation = plan.cancellation else { return }
        if isOneForAll { return flags.set(0) }
        for operation in part where cancellation.isChosen[operation] { flags.set(operation) }
    }

    override func teardown() {
        super.teardown()
        if !isBroken { flags = nil }
    }
}

/// Cancellation by the queue's own call. What it takes back has ended then.
final class CancellingRound<Queue: CancellingQueue>: QueueRound, @unchecked Sendable {
    /// Of each operation; written by its producer, which is also who cancels it.
    private var tickets: UnsafeMutablePointer<Queue.Ticket>?

    override func build() {
        super.build()
        tickets = .allocate(capacity: plan.operationCount)
    }

    override func submit(_ part: Range<Int>) {
        guard let queue = queues[0].queue as? Queue, let tickets else { return }
        begin(part.count)
        for operation in part {
            body.willSubmit(operation)
            (tickets + operation).initialize(to: queue.submitCancellable(work(operation)))
            body.didSubmit(operation)
        }
    }

    override func cancel(_ part: Range<Int>) {
        guard let queue = queues[0].queue as? Queue, let tickets, let cancellation = plan.cancellation else { return }
        for operation in part where cancellation.isChosen[operation] && queue.cancel(tickets[operation]) {
            body.didEndCancelled(operation)
            end()
        }
    }

    override func teardown() {
        tickets?.deinitialize(count: plan.operationCount)
        tickets?.deallocate()
        tickets = nil
        super.teardown()
    }
}

import Dispatch
import OpBenchBackends
import OpBenchModel

/// Closures that keep an object: memory fences.
final class LadenRound: QueueRound, @unchecked Sendable {
    override func work(_ operation: Int) -> Work {
        guard let bytes = plan.ballast?.bytes, bytes > 0 else { return super.work(operation) }
        unowned(unsafe) let round = self
        let notifies = notifies(operation)
        nonisolated(unsafe) let payload: AnyObject = Payload.make(bytes: bytes)
        return {
            round.body.run(operation)
            withExtendedLifetime(payload) {}
            if notifies { round.body.didNotify(operation) }
            round.end()
        }
    }
}

/// Closures that call their observers as their last act.
final class ObservedRound: QueueRound, @unchecked Sendable {
    override func work(_ operation: Int) -> Work {
        let count = plan.observers ?? 0
        guard count > 0 else { return super.work(operation) }
        unowned(unsafe) let round = self
        let notifies = notifies(operation)
        let observers = (0..<count).map { _ in { @Sendable [body] in body.didNotice(operation) } }
        return {
            round.body.run(operation)
            for observer in observers { observer() }
            if notifies { round.body.didNotify(operation) }
            round.end()
        }
    }
}

/// Operations of which each two in succession wait for each other, by semaphores.
final class WaitingRound: QueueRound, @unchecked Sendable {
    private var signals: [DispatchSemaphore] = []

    override func build() {
        super.build()
        let count = plan.blocking?.kind == .wait ? plan.operationCount / 2 : 0
        signals = (0..<count).map { _ in DispatchSemaphore(value: 0) }
        unowned(unsafe) let round = self
        body.setWait { round.signals[$0 / 2].wait() }
    }

    override func work(_ operation: Int) -> Work {
        guard operation % 2 == 1, operation / 2 < signals.count else { return super.work(operation) }
        unowned(unsafe) let round = self
        let notifies = notifies(operation)
        return { [signal = signals[operation / 2]] in
            round.body.run(operation)
            signal.signal()
            if notifies { round.body.didNotify(operation) }
            round.end()
        }
    }
}

/// Operations of several blocks, each submitted by itself; the last to end announces the operation.
final class GroupRound: QueueRound, @unchecked Sendable {
    override func submit(_ part: Range<Int>) {
        let queue = queues[0].queue
        begin(part.count)
        for group in plan.groups(of: part) {
            let countdown = body.takesStamps ? Countdown(group.count) : nil
            body.submitTogether(group, in: plan) {
                for operation in group { queue.submit(block(operation, of: group, countdown)) }
            }
        }
    }

    private func block(_ operation: Int, of group: Range<Int>, _ countdown: Countdown?) -> Work {
        guard let countdown else { return work(operation) }
        unowned(unsafe) let round = self
        return {
            round.body.run(operation)
            if countdown.isLast() { for operation in group { round.body.didNotify(operation) } }
            round.end()
        }
    }
}

/// Barriers, by the queue's own call.
final class BarrierRound: QueueRound, @unchecked Sendable {
    override func submit(_ part: Range<Int>) {
        guard let barriers = plan.barriers, let queue = queues[0].queue as? any BarrierQueue else { return }
        unowned(unsafe) let round = self
        begin(part.count)
        for operation in part {
            body.willSubmit(operation)
            if barriers.isBarrier(operation) {
                queue.submitBarrier {
                    round.body.runBarrier(operation)
                    round.end()
                }
            } else {
                queue.submit {
                    round.body.runBesideOthers(operation)
                    round.end()
                }
            }
            body.didSubmit(operation)
        }
    }
}

/// Classes of urgency, by the queue's own calls.
final class UrgencyRound: QueueRound, @unchecked Sendable {
    override func submit(_ part: Range<Int>) {
        guard let classes = plan.classes else { return }
        begin(part.count)
        switch queues[0].queue {
        case let queue as any PrioritizedQueue where plan.threadPriorities == nil:
            let levels = classes.values.map { QueuePriority(rawValue: Int($0)) ?? .normal }
            for operation in part {
                body.willSubmit(operation)
                queue.submit(priority: levels[Int(classes.ofOperation[operation])], work(operation))
                body.didSubmit(operation)
            }
        case let queue as any ThreadPriorityQueue:
            for operation in part {
                body.willSubmit(operation)
                queue.submit(threadPriority: classes.values[Int(classes.ofOperation[operation])], work(operation))
                body.didSubmit(operation)
            }
        default: preconditionFailure("a queue without priorities")
        }
    }
}

import Dispatch
import OpBenchModel

/// One round on Dispatch's queues. Subclasses are forms in which Dispatch differs from other queues.
class DispatchRound: QueueRound<DispatchLane>, @unchecked Sendable {
    init(_ plan: WorkloadPlan, _ body: OperationBody, _ layout: Layout = .perChain) {
        super.init(plan, body, layout) { DispatchLane(for: plan, limit: $0) }
    }

    final var lane: DispatchLane { queues[0] }

    override func submit(_ part: Range<Int>) { super.submit(part) }
}

/// Batches as groups, whose `notify` submits the next.
final class DispatchBatches: DispatchRound, @unchecked Sendable {
    private let refill: Refill

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        refill = Refill(window: plan.refillWindow ?? plan.operationCount, streams: plan.parts.count)
        super.init(plan, body)
    }

    override func chooseSubmission() {}

    override func submit(_ part: Range<Int>) {
        let batch = part.prefix(refill.window)
        let rest = batch.upperBound..<part.upperBound
        let group = DispatchGroup()
        refill.willSubmit()
        defer { refill.didSubmit() }
        for operation in batch {
            body.willSubmit(operation)
            lane.async(in: group) { [body] in body.run(operation) }
            body.didSubmit(operation)
        }
        group.notify(queue: lane.queue) { [self] in
            for operation in batch { body.didNotify(operation) }
            if rest.isEmpty { refill.streamEnded() } else { submit(rest) }
        }
    }

    override func drain() {
        refill.wait()
        super.drain()
    }
}

/// Work items that are performed by hand.
final class DispatchByHand: DispatchRound, @unchecked Sendable {
    private var items: [DispatchWorkItem] = []

    override func build() {
        super.build()
        items.reserveCapacity(plan.operationCount)
        for operation in 0..<plan.operationCount {
            let item = DispatchWorkItem(block: work(operation))
            if body.wantsNotification(operation) {
                item.notify(queue: lane.queue, execute: notifications.block(operation, body))
            }
            items.append(item)
        }
    }

    override func submit(_ part: Range<Int>) {
        begin(part.count)
        for operation in part {
            body.willStart(operation)
            items[operation].perform()
        }
    }

    override func teardown() {
        items = []
        super.teardown()
    }
}

/// One closure per group, which runs the blocks by `concurrentPerform` and ends when all have.
final class DispatchGroups: DispatchRound, @unchecked Sendable {
    override func submit(_ part: Range<Int>) {
        let round = Unretained(self)
        for group in plan.groups(of: part) {
            let work: @Sendable () -> Void = {
                round { round in
                    DispatchQueue.concurrentPerform(iterations: group.count) { round.body.run(group.lowerBound + $0) }
                    round.end()
                }
            }
            begin(1)
            body.submitTogether(group, in: plan) {
                if body.takesStamps {
                    lane.submit(work, thenNotify: notifications.block(group, body))
                } else {
                    lane.submit(work)
                }
            }
        }
    }
}

/// Closures that wait in a lane, with what they keep: memory fences.
///
/// Counted by a group, which an operation leaves when Dispatch has released its closure: its payload is freed when
/// `drain` returns.
final class DispatchLaden: DispatchRound, @unchecked Sendable {
    private let group = DispatchGroup()

    override func submit(_ part: Range<Int>) {
        let bytes = plan.ballast?.bytes ?? 0
        for operation in part {
            let work = body.closure(operation, payloadBytes: bytes)
            body.willSubmit(operation)
            if notifies(operation) {
                lane.submit(work, thenNotify: notifications.block(operation, body))
            } else {
                lane.async(in: group, work)
            }
            body.didSubmit(operation)
        }
    }

    override func drain() {
        super.drain()
        group.wait()
    }
}

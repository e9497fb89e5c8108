import Dispatch
import OpBenchModel

/// Batches of which each is a group, whose `notify` submits the next.
final class DispatchBatches: DispatchRound, @unchecked Sendable {
    private let refill: Refill

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        refill = Refill(window: plan.refillWindow ?? plan.operationCount, streams: plan.parts.count)
        super.init(plan, body)
    }

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

    override func drain() { refill.wait() }
}

import Dispatch
import OpBenchModel

/// Independent operations on Dispatch: a loop of `async`, or batches whose group's `notify` submits the next.
final class DispatchLoop: Backend, @unchecked Sendable {
    private let plan: WorkloadPlan
    private let body: OperationBody
    private let refill: Refill?
    private let notifications = Notifications()
    private var lane: DispatchLane?

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
        refill = plan.refillWindow.map { Refill(window: $0, streams: plan.parts.count) }
    }

    func build() {
        if lane == nil { lane = DispatchLane(limit: plan.limit, isSuspended: plan.startsSuspended) }
    }

    func submit(_ part: Range<Int>) {
        guard let lane else { return }
        if let refill {
            submitBatch(of: part, to: lane, refill)
        } else if plan.submission == .bulk {
            body.submitTogether(part, in: plan) {
                for operation in part { submit(operation, to: lane) }
            }
        } else {
            for operation in part {
                body.willSubmit(operation)
                submit(operation, to: lane)
                body.didSubmit(operation)
            }
        }
    }

    func release() { lane?.resume() }

    func drain() {
        refill?.wait()
        lane?.drain()
        notifications.wait()
    }

    func teardown() { lane = nil }

    func handOver() -> AnyObject? { lane }

    func takeOver(_ queue: AnyObject) {
        guard let queue = queue as? DispatchLane, queue.limit == plan.limit else { return }
        lane = queue
        if plan.startsSuspended { queue.suspend() }
    }

    func suspend() { lane?.suspend() }

    func resume() { lane?.resume() }

    @inline(__always)
    private func submit(_ operation: Int, to lane: DispatchLane) {
        guard body.wantsNotification(operation), plan.hasCompletionBlocks else {
            return lane.async { [body] in body.run(operation) }
        }
        lane.async({ [body] in body.run(operation) }, thenNotify: notifications.block(operation, body))
    }

    private func submitBatch(of part: Range<Int>, to lane: DispatchLane, _ refill: Refill) {
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
            if rest.isEmpty { refill.streamEnded() } else { submitBatch(of: rest, to: lane, refill) }
        }
    }
}

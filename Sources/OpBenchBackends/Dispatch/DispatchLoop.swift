import Dispatch
import OpBenchModel

/// Independent operations on Dispatch: a loop of `async`, or batches of which the last body submits the next.
final class DispatchLoop: Backend, @unchecked Sendable {
    private let plan: WorkloadPlan
    private let body: OperationBody
    private let batches: CountedBatches?
    private let notifications = Notifications()
    private var lane: DispatchLane?

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
        batches = CountedBatches(plan)
    }

    deinit { batches?.deallocate() }

    func build() {
        if lane == nil { lane = DispatchLane(for: plan) }
    }

    func submit(_ part: Range<Int>) {
        guard let lane else { return }
        if let batches { return submitBatch(part.lowerBound, of: batches, to: lane) }
        lane.willSubmit(part.count)
        if plan.submission == .bulk {
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
        if let batches { batches.wait() } else { lane?.drain() }
        notifications.wait()
    }

    func teardown() { lane = nil }

    func handOver() -> AnyObject? { lane }

    func takeOver(_ queue: AnyObject) {
        guard let queue = queue as? DispatchLane, queue.suits(plan) else { return }
        lane = queue
        if plan.startsSuspended { queue.suspend() }
    }

    func suspend() { lane?.suspend() }

    func resume() { lane?.resume() }

    @inline(__always)
    private func submit(_ operation: Int, to lane: DispatchLane) {
        // It outlives the operation, since `drain` waits for it.
        let ending = Unretained(lane)
        let work: @Sendable () -> Void = { [body] in
            body.run(operation)
            ending { $0.didEnd() }
        }
        guard body.wantsNotification(operation), plan.hasCompletionBlocks else { return lane.async(work) }
        lane.async(work, thenNotify: notifications.block(operation, body))
    }

    private func submitBatch(_ operation: Int, of batches: CountedBatches, to lane: DispatchLane) {
        let loop = Unretained(self)
        batches.submitNext(operation) { operation in
            body.willSubmit(operation)
            lane.async { loop { $0.runOfBatch(operation) } }
            body.didSubmit(operation)
        }
    }

    private func runOfBatch(_ operation: Int) {
        body.run(operation)
        if let batches, batches.didEnd(operation, body), let lane { submitBatch(operation, of: batches, to: lane) }
    }
}

/// Independent operations as the iterations of one call, which runs operations itself and returns when all have ended.
final class DispatchApply: Backend, Sendable {
    private let plan: WorkloadPlan
    private let body: OperationBody

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
    }

    static func support(_ plan: WorkloadPlan) -> Support {
        if plan.limit != nil { return .unsupported(reason: "concurrentPerform has no limit but the system's") }
        if plan.isRefill { return .unsupported(reason: "concurrentPerform has no batches that refill") }
        return .full(note: "the call that submits runs operations too, and returns when all have ended")
    }

    func build() {}

    func submit(_ part: Range<Int>) {
        // Operations are submitted when the call begins.
        body.submitTogether(part, in: plan) {}
        DispatchQueue.concurrentPerform(iterations: part.count) { [body] in body.run(part.lowerBound + $0) }
        guard body.takesStamps, plan.hasCompletionBlocks else { return }
        // The caller is told of the end by the call's return.
        for operation in part where body.wantsNotification(operation) { body.didNotify(operation) }
    }

    func release() {}
    func drain() {}
    func teardown() {}
    func suspend() {}
    func resume() {}
}

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

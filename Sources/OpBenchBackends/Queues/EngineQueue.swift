import OpBenchModel
import OperationEngine

/// A queue of the engine under test.
final class EngineQueue: ObjectQueue {
    typealias Item = OperationEngine.Operation

    static let isTrusted = true
    static let hasCompletionBlocks = true

    private let queue = OperationQueue()

    init(limit: Int?, isSuspended: Bool) {
        if let limit { queue.maxConcurrentOperationCount = limit }
        if isSuspended { queue.isSuspended = true }
    }

    var needsCount: Bool { false }

    func submit(_ work: @escaping Work) { queue.addOperation(work) }

    func submit(_ work: @escaping Work, thenNotify notification: @escaping Work) {
        let item = BlockOperation(block: work)
        item.completionBlock = notification
        queue.addOperation(item)
    }

    func submitBarrier(_ work: @escaping Work) { queue.addBarrierBlock(work) }

    func add(_ item: Item) { queue.addOperation(item) }

    func add(_ items: [Item]) { queue.addOperations(items, waitUntilFinished: false) }

    func cancelAll() { queue.cancelAllOperations() }

    func drain(isCounted: Bool) { queue.waitUntilAllOperationsAreFinished() }

    func suspend() { queue.isSuspended = true }

    func resume() { queue.isSuspended = false }

    func adapt(to plan: WorkloadPlan) -> Bool {
        queue.maxConcurrentOperationCount = plan.limit ?? OperationQueue.defaultMaxConcurrentOperationCount
        queue.isSuspended = plan.startsSuspended
        return true
    }

    func observe(_ item: Item, _ number: Int, _ body: OperationBody) -> AnyObject? {
        item.observe(\.isFinished) { _, _ in body.didNotice(number) }
    }
}

extension OperationEngine.Operation: QueuedItem {
    func setQueuePriority(_ rawValue: Int) { queuePriority = QueuePriority(rawValue: rawValue) ?? .normal }

    func setThreadPriority(_ priority: Double) { threadPriority = priority }
}

/// Objects on the engine's queues.
final class EngineRound: ObjectRound<EngineQueue>, @unchecked Sendable {
    override func build() { super.build() }
    override func submit(_ part: Range<Int>) { super.submit(part) }
    override func cancel(_ part: Range<Int>) { super.cancel(part) }
    override func attest() { super.attest() }
}

/// Closures on the engine's queues.
class EngineClosures: QueueRound<EngineQueue>, @unchecked Sendable {
    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        let isSuspended = plan.startsSuspended
        super.init(plan, body, .perChain) { EngineQueue(limit: $0, isSuspended: isSuspended) }
    }

    override func submit(_ part: Range<Int>) { super.submit(part) }
}

/// Refilled batches of closures, each with a barrier behind it that submits the next.
final class EngineBarrierBatches: EngineClosures, @unchecked Sendable {
    private let refill: Refill

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        refill = Refill(window: plan.refillWindow ?? plan.operationCount, streams: plan.parts.count)
        super.init(plan, body)
    }

    override func chooseSubmission() {}

    override func submit(_ part: Range<Int>) {
        let batch = part.prefix(refill.window)
        let rest = batch.upperBound..<part.upperBound
        let (round, queue) = (Unretained(self), queues[0])
        refill.willSubmit()
        for operation in batch {
            body.willSubmit(operation)
            queue.submit { [body] in body.run(operation) }
            body.didSubmit(operation)
        }
        queue.submitBarrier {
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

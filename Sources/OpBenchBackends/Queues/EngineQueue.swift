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

    func observe(_ item: Item, _ number: Int, _ body: OperationBody) -> AnyObject? {
        item.observe(\.isFinished) { _, _ in body.didNotice(number) }
    }
}

extension OperationEngine.Operation: QueuedItem {
    func setQueuePriority(_ rawValue: Int) { queuePriority = QueuePriority(rawValue: rawValue) ?? .normal }

    func setThreadPriority(_ priority: Double) { threadPriority = priority }
}

/// Objects on the engine's queues.
class EngineRound: ObjectRound<EngineQueue>, @unchecked Sendable {
    override func build() { super.build() }
    override func submit(_ part: Range<Int>) { super.submit(part) }
    override func cancel(_ part: Range<Int>) { super.cancel(part) }
    override func attest() { super.attest() }
}

/// The same with a graph that is declared in one step.
final class EngineGraphRound: EngineRound, @unchecked Sendable {
    override func link(_ items: [Item]) {
        var pairs: [(of: Int, on: Int)] = []
        plan.forEachDependency { pairs.append((of: $0, on: $1)) }
        Item.addDependencies(pairs, among: items)
    }
}

/// Closures on the engine's queues.
final class EngineClosures: QueueRound<EngineQueue>, @unchecked Sendable {
    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        let isSuspended = plan.startsSuspended
        super.init(plan, body, .perChain) { EngineQueue(limit: $0, isSuspended: isSuspended) }
    }

    override func submit(_ part: Range<Int>) { super.submit(part) }
}

import Dispatch
import Foundation
import OpBenchModel

/// A Foundation queue, used as its documentation shows.
final class FoundationQueue: ObjectQueue {
    typealias Item = Foundation.Operation

    static let isTrusted = true
    static let hasCompletionBlocks = true

    private let queue = OperationQueue()
    /// Barriers and observers that have not ended: on Linux the queue's own wait does not wait for them.
    private let pending = DispatchGroup()

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

    func submitBarrier(_ work: @escaping Work) {
        pending.enter()
        queue.addBarrierBlock { [pending] in
            work()
            pending.leave()
        }
    }

    func add(_ item: Item) { queue.addOperation(item) }

    func add(_ items: [Item]) { queue.addOperations(items, waitUntilFinished: false) }

    func cancelAll() { queue.cancelAllOperations() }

    func drain(isCounted: Bool) {
        queue.waitUntilAllOperationsAreFinished()
        pending.wait()
    }

    func suspend() { queue.isSuspended = true }

    func resume() { queue.isSuspended = false }

    /// Foundation on Linux has no key-value observing: the completion block calls the observers, one after the other.
    func observe(_ item: Item, _ number: Int, _ body: OperationBody) -> AnyObject? {
        let others = item.completionBlock
        pending.enter()
        item.completionBlock = { [pending] in
            others?()
            body.didNotice(number)
            pending.leave()
        }
        return nil
    }
}

extension Foundation.Operation: QueuedItem {
    func setQueuePriority(_ rawValue: Int) { queuePriority = QueuePriority(rawValue: rawValue) ?? .normal }

    /// Never called: the shape that asks for it is not supported.
    func setThreadPriority(_ priority: Double) {
        preconditionFailure("Foundation on Linux has no threadPriority")
    }
}

/// Objects on Foundation's queues.
final class FoundationRound: ObjectRound<FoundationQueue>, @unchecked Sendable {
    override func build() { super.build() }
    override func submit(_ part: Range<Int>) { super.submit(part) }
    override func cancel(_ part: Range<Int>) { super.cancel(part) }
    override func attest() { super.attest() }
}

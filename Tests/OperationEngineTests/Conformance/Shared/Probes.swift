// The tests in this folder are compiled twice: against OperationEngine, and with ORACLE defined against Foundation.
// They hold the contract's lines on which both agree; what only the engine promises is tested one folder up.

import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

/// An operation with an overridden `main` that runs a closure, which is handed the operation itself.
final class MainOperation: Operation, @unchecked Sendable {
    private let body: @Sendable (MainOperation) -> Void

    init(_ body: @escaping @Sendable (MainOperation) -> Void = { _ in }) {
        self.body = body
        super.init()
    }

    override func main() {
        body(self)
    }
}

/// An operation whose release is counted.
final class CountedOperation: Operation, @unchecked Sendable {
    private let freed: Counter
    private let body: @Sendable () -> Void

    init(freed: Counter, _ body: @escaping @Sendable () -> Void = {}) {
        self.freed = freed
        self.body = body
        super.init()
    }

    override func main() {
        body()
    }

    deinit { freed.add() }
}

/// The values of the four state getters at one moment.
struct StateFlags: Equatable, Sendable {
    var ready: Bool
    var executing: Bool
    var finished: Bool
    var cancelled: Bool

    init(_ operation: Operation) {
        ready = operation.isReady
        executing = operation.isExecuting
        finished = operation.isFinished
        cancelled = operation.isCancelled
    }
}

/// A queue, made in one line.
func makeQueue(limit: Int? = nil, suspended: Bool = false) -> OperationQueue {
    let queue = OperationQueue()
    if let limit {
        queue.maxConcurrentOperationCount = limit
    }
    queue.isSuspended = suspended
    return queue
}

/// An operation that runs until its gate opens, with a gate that opens when it has begun.
struct Blocker {
    let operation: MainOperation
    let begun = Gate("the blocker begins")
    let release = Gate("the blocker is released")

    init() {
        let (begun, release) = (begun, release)
        operation = MainOperation { _ in
            begun.open()
            release.wait()
        }
    }

    /// Adds the operation to `queue` and returns when it runs.
    func occupy(_ queue: OperationQueue) {
        queue.addOperation(operation)
        begun.wait()
    }
}

/// Waits for everything in `queue`; records a failure if that hangs.
@discardableResult
func drains(_ queue: OperationQueue, sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
    completes("draining the queue", sourceLocation: sourceLocation) {
        queue.waitUntilAllOperationsAreFinished()
    }
}

/// Waits for `operation`; records a failure if that hangs.
@discardableResult
func finishes(_ operation: Operation, sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
    completes("waiting for an operation", sourceLocation: sourceLocation) {
        operation.waitUntilFinished()
    }
}

/// Whether two lists hold the same operations in the same order.
func areSame(_ left: [Operation], _ right: [Operation]) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { $0 === $1 }
}

/// Operations that append their index to `log`.
func numbered(_ count: Int, into log: Recorder<Int>) -> [MainOperation] {
    (0..<count).map { index in MainOperation { _ in log.append(index) } }
}

import Foundation

#if SCOPED_IMPORTS
    import class OperationEngine.BlockOperation
    import class OperationEngine.Operation
    import class OperationEngine.OperationQueue
#endif

/// A base class as libraries have it that leaves `start` alone: the work begins in `main` and ends with `finish`.
class MainBasedOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var isAtWork = false
    private var isDone = false

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { isAtWork } }
    override var isFinished: Bool { lock.withLock { isDone } }

    final override func main() {
        willChangeValue(forKey: "isExecuting")
        lock.withLock { isAtWork = true }
        didChangeValue(forKey: "isExecuting")
        if isCancelled { finish() } else { execute() }
    }

    override func cancel() {
        super.cancel()
        if !isExecuting { finish() }
    }

    func execute() { finish() }

    final func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        lock.withLock { (isAtWork, isDone) = (false, true) }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}

/// A base class whose `start` calls the inherited one first, and begins its work after that.
class StartBasedOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var isDone = false

    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { lock.withLock { isDone } }

    final override func start() {
        super.start()
        if isCancelled { finish() } else { execute() }
    }

    func execute() { finish() }

    final func finish() {
        willChangeValue(forKey: "isFinished")
        lock.withLock { isDone = true }
        didChangeValue(forKey: "isFinished")
    }
}

/// Says that it executes from the beginning, and ends inside `start`.
final class EagerOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var isDone = false

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { !isFinished }
    override var isFinished: Bool { lock.withLock { isDone } }

    override func start() {
        willChangeValue(forKey: "isFinished")
        lock.withLock { isDone = true }
        didChangeValue(forKey: "isFinished")
    }
}

/// An operation made of others, which is finished when all of them are, and its own `main` too.
final class GroupOfOperations: Operation, @unchecked Sendable {
    private let children: [Operation]
    private let queue = OperationQueue()

    init(_ children: [Operation]) {
        self.children = children
        super.init()
        for child in children {
            child.completionBlock = { [weak self] in
                self?.willChangeValue(forKey: "isFinished")
                self?.didChangeValue(forKey: "isFinished")
            }
        }
    }

    override var isFinished: Bool { super.isFinished && children.allSatisfy(\.isFinished) }

    override func main() { queue.addOperations(children, waitUntilFinished: false) }
}

import Foundation

#if SCOPED_IMPORTS
    import class OperationEngine.BlockOperation
    import class OperationEngine.Operation
    import class OperationEngine.OperationQueue
    import enum OperationEngine.QualityOfService
    import OperationEngineProgress
#endif

// What Foundation on Linux lets a program do with the three classes, one line or override a member. That this compiles
// against both is the test.

/// Every member that is open, overridden.
class EveryOverride: Operation, @unchecked Sendable {
    override init() { super.init() }
    override func start() { super.start() }
    override func main() { super.main() }
    override func cancel() { super.cancel() }
    override var isReady: Bool { super.isReady }
    override var isExecuting: Bool { super.isExecuting }
    override var isFinished: Bool { super.isFinished }
    override var isCancelled: Bool { super.isCancelled }
    override var isAsynchronous: Bool { super.isAsynchronous }
    override func addDependency(_ op: Operation) { super.addDependency(op) }
    override func removeDependency(_ op: Operation) { super.removeDependency(op) }
    override var dependencies: [Operation] { super.dependencies }
    override var queuePriority: Operation.QueuePriority {
        get { super.queuePriority }
        set { super.queuePriority = newValue }
    }
    override var completionBlock: (@Sendable () -> Void)? {
        get { super.completionBlock }
        set { super.completionBlock = newValue }
    }
    override func waitUntilFinished() { super.waitUntilFinished() }
    override var qualityOfService: QualityOfService {
        get { super.qualityOfService }
        set { super.qualityOfService = newValue }
    }
    override var name: String? {
        get { super.name }
        set { super.name = newValue }
    }
    override var description: String { super.description }
    override var debugDescription: String { super.debugDescription }
    override func isEqual(_ object: Any?) -> Bool { super.isEqual(object) }
    override var hash: Int { super.hash }
}

class EveryBlockOverride: BlockOperation, @unchecked Sendable {
    override init() { super.init() }
    override func main() { super.main() }
    override func addExecutionBlock(_ block: @escaping @Sendable () -> Void) { super.addExecutionBlock(block) }
    override var executionBlocks: [@Sendable () -> Void] { super.executionBlocks }
}

class EveryQueueOverride: OperationQueue, @unchecked Sendable {
    override init() { super.init() }
    override func addOperation(_ op: Operation) { super.addOperation(op) }
    override func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) {
        super.addOperations(ops, waitUntilFinished: wait)
    }
    override func addOperation(_ block: @escaping @Sendable () -> Void) { super.addOperation(block) }
    override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { super.addBarrierBlock(barrier) }
    override var maxConcurrentOperationCount: Int {
        get { super.maxConcurrentOperationCount }
        set { super.maxConcurrentOperationCount = newValue }
    }
    override var isSuspended: Bool {
        get { super.isSuspended }
        set { super.isSuspended = newValue }
    }
    override var name: String? {
        get { super.name }
        set { super.name = newValue }
    }
    override var qualityOfService: QualityOfService {
        get { super.qualityOfService }
        set { super.qualityOfService = newValue }
    }
    override var underlyingQueue: DispatchQueue? {
        get { super.underlyingQueue }
        set { super.underlyingQueue = newValue }
    }
    override class var main: OperationQueue { super.main }
    override class var current: OperationQueue? { super.current }
    override var description: String { super.description }
    override var debugDescription: String { super.debugDescription }
    override func isEqual(_ object: Any?) -> Bool { super.isEqual(object) }
    override var hash: Int { super.hash }
    override func cancelAllOperations() { super.cancelAllOperations() }
    override func waitUntilAllOperationsAreFinished() { super.waitUntilAllOperationsAreFinished() }
}

/// Uses the members that are public and not open.
func usePublicMembers(of operation: Operation, in queue: OperationQueue) -> [Any] {
    operation.willChangeValue(forKey: "isReady")
    operation.didChangeValue(forKey: "isReady")
    operation.willChangeValue(for: \.isExecuting)
    operation.didChangeValue(for: \.isExecuting)
    let priorities: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
    let services: [QualityOfService] = [.userInteractive, .userInitiated, .utility, .background, .default]
    let block = BlockOperation(block: {})
    return [
        queue.operations as [Operation], queue.operationCount as Int, priorities.map(\.rawValue), Set(services).count,
        Operation.QueuePriority(rawValue: 3) as Any, Operation.QueuePriority(rawValue: -8) as Any,
        QualityOfService(rawValue: QualityOfService.utility.rawValue) as Any, QualityOfService(rawValue: 18) as Any,
        queue.progress as Progress, OperationQueue.main as OperationQueue,
        OperationQueue.current as OperationQueue? as Any,
        OperationQueue.defaultMaxConcurrentOperationCount as Int, block.executionBlocks.count,
    ]
}

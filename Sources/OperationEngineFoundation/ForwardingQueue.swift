import Dispatch
import OperationEngine

import class Foundation.Operation
import class Foundation.OperationQueue
import enum Foundation.QualityOfService
import class Foundation.Thread

/// A Foundation queue that forwards to a queue of the engine, for calls that require Foundation's class. What is added
/// to it runs in the engine's queue, and `OperationQueue.current` of the engine is that queue there. Foundation's own
/// `current` does not know it.
///
/// Limit, suspension, name, quality of service and underlying queue are those of the engine's queue. `operations`,
/// `operationCount` and `progress` cannot be overridden and do not know what is in it: ask `target`.
///
/// From any thread. The forwarding queue retains the engine's queue. If a call holds its queue weakly, as
/// `NotificationCenter` does, something else has to retain the forwarding queue.
public final class ForwardingQueue: Foundation.OperationQueue, @unchecked Sendable {
    /// The engine's queue, in which everything runs.
    public let target: OperationEngine.OperationQueue

    /// Makes a queue that forwards to `target`.
    public init(to target: OperationEngine.OperationQueue) {
        self.target = target
        super.init()
    }

    // MARK: Adding

    /// Adds a block to the engine's queue.
    public override func addOperation(_ block: @escaping @Sendable () -> Void) { target.addOperation(block) }

    /// Adds a Foundation operation. An operation of the engine starts it when it is ready, and ends with it.
    ///
    /// It starts in its turn among the engine's operations, and takes a slot until it is finished. An operation that
    /// overrides `isReady`, and is not ready a tenth of a second after its dependencies have finished, cannot be
    /// followed from outside. It runs as in a Foundation queue instead.
    ///
    /// One that finishes before its dependencies, cancelled or ready by its own account, is taken out of its
    /// `dependencies`. Foundation's operations keep unretained pointers to those that wait for them, and read freed
    /// memory otherwise.
    public override func addOperation(_ operation: Foundation.Operation) {
        if operation.isReady {
            carry(operation)
        } else {
            super.addOperation(Opening(to: operation) { [self] in carry(operation) })
        }
    }

    /// Adds Foundation operations one after another.
    ///
    /// - Parameters:
    ///   - operations: what to add.
    ///   - wait: whether to return only after all of these operations are finished.
    public override func addOperations(_ operations: [Foundation.Operation], waitUntilFinished wait: Bool) {
        for operation in operations { addOperation(operation) }
        if wait {
            for operation in operations { operation.waitUntilFinished() }
        }
    }

    /// Adds a barrier to the engine's queue.
    public override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { target.addBarrierBlock(barrier) }

    private func carry(_ operation: Foundation.Operation) {
        target.addOperation(Carrier(operation) { super.addOperation(operation) })
    }

    // MARK: Control

    /// Cancels what is in the engine's queue, and the Foundation operations that wait for dependencies.
    public override func cancelAllOperations() {
        super.cancelAllOperations()
        target.cancelAllOperations()
    }

    /// Blocks the calling thread until the engine's queue is empty and everything that was added here is finished.
    public override func waitUntilAllOperationsAreFinished() {
        super.waitUntilAllOperationsAreFinished()
        target.waitUntilAllOperationsAreFinished()
        // What the engine's queue could not run has come back here.
        super.waitUntilAllOperationsAreFinished()
    }

    // MARK: Settings

    /// That of the engine's queue.
    public override var maxConcurrentOperationCount: Int {
        get { target.maxConcurrentOperationCount }
        set { target.maxConcurrentOperationCount = newValue }
    }

    /// That of the engine's queue.
    public override var isSuspended: Bool {
        get { target.isSuspended }
        set { target.isSuspended = newValue }
    }

    /// That of the engine's queue.
    public override var name: String? {
        get { target.name }
        set { target.name = newValue }
    }

    /// That of the engine's queue.
    public override var qualityOfService: Foundation.QualityOfService {
        get { Foundation.QualityOfService(target.qualityOfService) }
        set { target.qualityOfService = OperationEngine.QualityOfService(newValue) }
    }

    /// That of the engine's queue.
    public override var underlyingQueue: DispatchQueue? {
        get { target.underlyingQueue }
        set { target.underlyingQueue = newValue }
    }
}

/// Waits in Foundation's queue for the dependencies of a Foundation operation.
private final class Opening: Foundation.Operation, @unchecked Sendable {
    private let operation: Foundation.Operation
    private let open: () -> Void

    init(to operation: Foundation.Operation, open: @escaping () -> Void) {
        self.operation = operation
        self.open = open
        super.init()
        for dependency in operation.dependencies { addDependency(dependency) }
    }

    /// Cancelled or not: a cancelled operation has to be started as well, or it would never be finished.
    override func start() {
        waitForReadiness()
        open()
        leaveDependencies()
        super.start()
    }

    /// Waits for the operation to be ready, at most a tenth of a second. When a dependency finishes, Foundation makes its
    /// dependents ready one after another, in any order: this one may start before the operation is ready.
    private func waitForReadiness() {
        for doublings in 0..<10 where !operation.isReady && !operation.isCancelled {
            Thread.sleep(forTimeInterval: 100e-6 * Double(1 << doublings))
        }
    }

    override func cancel() {
        operation.cancel()
        super.cancel()
    }
}

/// Runs a Foundation operation as an operation of the engine.
private final class Carrier: OperationEngine.Operation, @unchecked Sendable {
    private let operation: Foundation.Operation
    private let refuse: () -> Void

    init(_ operation: Foundation.Operation, refuse: @escaping () -> Void) {
        self.operation = operation
        self.refuse = refuse
        super.init()
        queuePriority = QueuePriority(rawValue: operation.queuePriority.rawValue) ?? .normal
        qualityOfService = OperationEngine.QualityOfService(operation.qualityOfService)
    }

    override func main() {
        guard operation.isReady else { return refuse() }
        operation.start()
        operation.waitUntilFinished()
        operation.leaveDependencies()
    }

    /// This does not cancel the carrier itself: the Foundation operation has to be started to finish.
    override func cancel() { operation.cancel() }
}

extension Foundation.Operation {
    /// Has no dependency know this operation any more, if one may be unfinished. An operation holds unretained pointers
    /// to its dependents until it has finished, and a dependent that is freed earlier does not withdraw its own (E21). That
    /// `isFinished` is true does not mean that the pointers have been used, so a cancelled operation leaves all.
    ///
    /// `removeDependency` takes the dependency's lock, which is held as long as the pointers are in use.
    fileprivate func leaveDependencies() {
        for dependency in dependencies where isCancelled || !dependency.isFinished { removeDependency(dependency) }
    }
}

extension Foundation.QualityOfService {
    fileprivate init(_ quality: OperationEngine.QualityOfService) {
        switch quality {
        case .userInteractive: self = .userInteractive
        case .userInitiated: self = .userInitiated
        case .utility: self = .utility
        case .background: self = .background
        default: self = .default
        }
    }
}

extension OperationEngine.QualityOfService {
    fileprivate init(_ quality: Foundation.QualityOfService) {
        switch quality {
        case .userInteractive: self = .userInteractive
        case .userInitiated: self = .userInitiated
        case .utility: self = .utility
        case .background: self = .background
        default: self = .default
        }
    }
}

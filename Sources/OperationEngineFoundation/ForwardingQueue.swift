import Dispatch
import OperationEngine

import class Foundation.Operation
import class Foundation.OperationQueue
import enum Foundation.QualityOfService

/// A queue of Foundation's with one of the engine's behind it, for calls that ask for Foundation's class: what is added to
/// it runs in the engine's queue, where the engine's `OperationQueue.current` is that queue. Foundation's own knows
/// nothing of it.
///
/// Limit, suspension, name, quality of service and underlying queue are those of the engine's queue. `operations`,
/// `operationCount` and `progress`, which cannot be overridden, know nothing of it: ask `target`.
///
/// From any thread. Whoever holds the forwarding queue holds the engine's as well. A call that holds its queue weakly, as
/// `NotificationCenter` does, needs somebody else who holds this one.
public final class ForwardingQueue: Foundation.OperationQueue, @unchecked Sendable {
    /// The engine's queue, in which everything runs.
    public let target: OperationEngine.OperationQueue

    /// A queue that adds to `target`.
    public init(to target: OperationEngine.OperationQueue) {
        self.target = target
        super.init()
    }

    // MARK: Adding

    /// Adds a block to the engine's queue.
    public override func addOperation(_ block: @escaping @Sendable () -> Void) { target.addOperation(block) }

    /// Adds an operation of Foundation's: one of the engine's starts it when it is ready, and ends with it.
    ///
    /// It starts in its turn among the engine's operations, and takes a slot until it is finished. One that becomes ready
    /// by its own account, with an overridden `isReady` that is false although all dependencies are finished, cannot be
    /// followed from outside, and runs as in a queue of Foundation's instead.
    public override func addOperation(_ operation: Foundation.Operation) {
        if operation.isReady {
            carry(operation)
        } else {
            super.addOperation(Opening(to: operation) { [self] in carry(operation) })
        }
    }

    /// Adds operations of Foundation's one after another.
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

    /// Cancels what is in the engine's queue, and the operations of Foundation's that wait for others.
    public override func cancelAllOperations() {
        super.cancelAllOperations()
        target.cancelAllOperations()
    }

    /// Blocks the calling thread until the engine's queue is empty, and all that was added here is finished.
    public override func waitUntilAllOperationsAreFinished() {
        super.waitUntilAllOperationsAreFinished()
        target.waitUntilAllOperationsAreFinished()
        // What the engine's queue could not run is here again.
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

/// Waits in Foundation's queue for what an operation of Foundation's depends on.
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
        open()
        super.start()
    }

    override func cancel() {
        operation.cancel()
        super.cancel()
    }
}

/// Runs an operation of Foundation's as one of the engine's.
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
    }

    /// Not this operation's own cancellation: the other one has to be started, to finish.
    override func cancel() { operation.cancel() }
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

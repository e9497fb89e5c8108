import Dispatch
import Synchronization

/// Runs operations on the threads of the engine's pool, or where `underlyingQueue` says: ready ones first, then by
/// priority, then in the order of adding, at most `maxConcurrentOperationCount` at once.
///
/// Every method and property may be used from any thread. A queue that its user drops runs its operations to the end
/// and goes then (contract Q3). The end of the process is not held up by operations, and a forked child cannot use the
/// queues of its parent: see <doc:ForkExitAndSignals>.
///
/// Names and signatures are those of Foundation's `OperationQueue`; the differences are listed in the documentation.
open class OperationQueue: @unchecked Sendable {
    /// The value of `maxConcurrentOperationCount` that leaves the number to the engine: as many as there are
    /// processors, more while operations are blocked, up to 64.
    public static let defaultMaxConcurrentOperationCount = -1

    private let liveMark = LiveMark(.operationQueue)
    let core = QueueCore()
    /// What few queues have. Guarded by `lock`.
    private let lock = FutexLock()
    private var storedName: String?
    private var storedQualityOfService = QualityOfService.default

    /// A queue that is not suspended and leaves the number of operations at once to the engine.
    public init() { core.setOwner(self) }

    // MARK: The main queue and the caller's

    /// The queue whose operations run on the main thread, one at a time (contract P1).
    ///
    /// It shares the main thread with `DispatchQueue.main`, and gives it up now and then for what waits there. On Linux
    /// the main thread serves both under a `RunLoop` of Foundation, or under `runMain()`. Under `dispatchMain()`, which
    /// ends the main thread, the operations still run one at a time, on threads of Dispatch, and `current` is still
    /// this queue.
    ///
    /// Its limit is 1, its name is fixed, it cannot be suspended and has no quality of service or other underlying
    /// queue: setting any of these has no effect (contract N7, P4). A `threadPriority` is not applied there. Completion
    /// blocks run on a thread of the engine. `cancelAllOperations` works as for any queue (J10).
    ///
    /// To wait on the main thread for an operation of this queue is to wait for ever (contract O5).
    ///
    /// A subclass that overrides it changes what `Subclass.main` gives, and nothing else.
    open class var main: OperationQueue { MainOperationQueue.shared }

    /// The queue that runs the caller's operation; elsewhere the main queue on the main thread and for blocks of
    /// `DispatchQueue.main`, nil on other threads (contract P2). From any thread.
    ///
    /// An operation that is started by hand inside of another one does not change it (contract B15, P3), and all blocks
    /// of a `BlockOperation` find the queue of their operation. A completion block belongs to no queue.
    ///
    /// A subclass that overrides it changes what `Subclass.current` gives, and nothing else.
    open class var current: OperationQueue? {
        if let queue = Runner.current?.takeUnretainedValue().queue?.liveOwner { return queue }
        return MainOperationQueue.isCurrent ? MainOperationQueue.shared : nil
    }

    // MARK: Adding

    /// Adds an operation, which is started as soon as it is ready and its turn has come. One that is in a queue,
    /// executes or is finished is a `Misuse` (contract M6).
    open func addOperation(_ operation: Operation) {
        let refusal =
            reasonAgainstAdding(operation)
            ?? core.announcing([.operations, .operationCount]) {
                if let misuse = operation.state.claimForQueue() { return misuse }
                _ = Unmanaged.passRetained(operation)
                core.add(operation)
                return nil
            }
        refusal?.report()
    }

    /// Adds a block, as an operation of its own.
    open func addOperation(_ block: @escaping @Sendable () -> Void) {
        // A subclass may have overridden the adding of operations.
        guard type(of: self) == OperationQueue.self, !ForkedChild.isOne else {
            return addOperation(BlockOperation(block: block))
        }
        // Who observes the queue is told of every operation.
        if !core.hasObservers, core.add(block) { return core.settleIfObserved() }
        let operation = Unmanaged<Operation>.passRetained(BlockOperation(block: block))
        core.announcing([.operations, .operationCount]) { core.add(unknown: operation) }
    }

    /// Adds several operations in one step: all, or none if one of them cannot be added (contract M5).
    ///
    /// - Parameters:
    ///   - operations: what to add. An empty array changes nothing (M7).
    ///   - wait: whether to return only after all of these operations are finished (M4).
    open func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        guard !operations.isEmpty else { return }
        let refusal =
            reasonAgainstAdding(operations)
            ?? core.announcing([.operations, .operationCount]) {
                if let misuse = claim(operations) { return misuse }
                core.add(operations)
                return nil
            }
        if let refusal { return refusal.report() }
        if wait {
            for operation in operations { operation.waitUntilFinished() }
        }
    }

    /// Adds a block that runs after everything that was added before it is finished, alone; what is added later waits
    /// for its end, whatever its priority (contract P7).
    ///
    /// A barrier runs where the queue's operations run, obeys suspension and limit (P8, P9), and is neither listed in
    /// `operations` nor counted in `operationCount` (P10), but `waitUntilAllOperationsAreFinished` waits for it. Added
    /// by an operation of the same queue, it runs after that operation. Completion blocks are no part of the
    /// operations: those of earlier ones may still run.
    ///
    /// `cancelAllOperations` cancels barriers too: a cancelled one does not run, and holds nobody back any more (P11).
    /// A single cancelled operation behind a barrier finishes at once, without its main, as elsewhere in a queue (J4,
    /// J5); if its class overrides `start`, it waits for the barrier.
    ///
    /// An operation added before a barrier must not depend on one added after it: neither would ever run, nor the
    /// barrier, until one of them is cancelled.
    open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        if ForkedChild.isRefused() { return }
        let operation = BarrierOperation(barrier)
        // Nobody else knows it.
        _ = operation.state.claimForQueue()
        core.addBarrier(Unmanaged.passRetained(operation).takeUnretainedValue())
    }

    // Operations are claimed for their queue, then published. Until then a thread that announces the end of one spins (see
    // `finishFromAnyPhase`), and may hold whatever lock. So nothing of the user's is called between the two: overridden
    // properties are asked before, and observers told.

    /// Why an operation cannot be added, as far as it has to be asked itself, since its `start` is its own. That is found
    /// for any if there are observers, who are told next and would hear of a change that does not happen.
    private func reasonAgainstAdding(_ operation: Operation) -> Misuse? {
        if ForkedChild.isOne { return .useAfterFork }
        if MethodOverride.start.isPresent(in: operation) {
            if operation.isFinished { return .addFinished }
            if operation.isExecuting { return .addExecuting }
        }
        return core.hasObservers ? operation.state.reasonAgainstClaim : nil
    }

    private func reasonAgainstAdding(_ operations: [Operation]) -> Misuse? {
        for operation in operations {
            if let misuse = reasonAgainstAdding(operation) { return misuse }
        }
        guard core.hasObservers else { return nil }
        return Set(operations.map { ObjectIdentifier($0) }).count < operations.count ? .addInQueue : nil
    }

    /// Claims and retains all of the operations, or none.
    private func claim(_ operations: [Operation]) -> Misuse? {
        for (index, operation) in operations.enumerated() {
            if let misuse = operation.state.claimForQueue() {
                for claimed in operations[..<index] {
                    claimed.state.releaseClaim()
                    Unmanaged.passUnretained(claimed).release()
                }
                // What has happened to a claimed one was left to the queue to ask about.
                for claimed in operations[..<index] { claimed.askOutsideQueue() }
                return misuse
            }
            _ = Unmanaged.passRetained(operation)
        }
        return nil
    }

    // MARK: What is in the queue

    /// The operations that are not finished, executing ones included, in the order of adding. Computed on demand, in
    /// time proportional to their number; out of date when it returns (contract M9).
    open var operations: [Operation] { core.snapshot() }

    /// How many there are: five atomic loads. May count those just finished for a moment longer (contract M10, M11).
    open var operationCount: Int { core.operationCount }

    // MARK: Control

    /// How many operations execute at once. 0 starts nothing. Raising it starts waiting ones at once; lowering it
    /// lets the executing ones go on (contract N1–N6). A negative number other than the default is a `Misuse`.
    ///
    /// A number above the processors' is reached when operations block, up to 512 threads of the engine (N13).
    open var maxConcurrentOperationCount: Int {
        get { core.read { $0.limit } }
        set {
            guard newValue >= 0 || newValue == Self.defaultMaxConcurrentOperationCount else {
                return Misuse.negativeLimit(newValue).report()
            }
            core.announcing([.maxConcurrentOperationCount]) { core.change { $0.setLimit(newValue) } }
        }
    }

    /// While true nothing new starts; what has been chosen before the setter returned goes on, at most one operation
    /// per slot (contract N9–N12).
    open var isSuspended: Bool {
        get { core.read { $0.isSuspended } }
        set { core.announcing([.isSuspended]) { core.change { $0.isSuspended = newValue } } }
    }

    /// Cancels every operation and every barrier that is in the queue now, and returns at once (contract J10, J11).
    open func cancelAllOperations() {
        let all = core.cancelWaiting()
        for operation in all where !operation.isBarrier { operation.cancel() }
        // Last: a cancelled barrier lets go of those behind it, which are to be cancelled by then.
        for barrier in all where barrier.isBarrier { barrier.cancel() }
    }

    /// Blocks the calling thread until the queue is empty, including barriers and what is added meanwhile (contract O3,
    /// O4).
    ///
    /// Not to be called by an operation of the same queue, which would wait for its own end, nor on the main thread for
    /// the main queue (contract O5).
    open func waitUntilAllOperationsAreFinished() { _ = wait(.never) }

    /// As `waitUntilAllOperationsAreFinished()`, but gives up after `timeout`. Returns whether the queue was empty.
    @discardableResult
    public final func waitUntilFinished(timeout: Duration) -> Bool { wait(Deadline(after: timeout)) }

    private func wait(_ deadline: Deadline) -> Bool {
        if core.isEmpty { return true }
        if ForkedChild.isRefused() { return false }
        return Runner.waiting(for: deadline.isNever ? .queue(.passUnretained(core)) : nil) {
            if !deadline.isNever { return core.waitUntilDrained(deadline) }
            EndlessWait.wait {
                core.waitUntilDrained($0)
            } reason: {
                EndlessWait.reason(forQueue: core)
            }
            return true
        }
    }

    // MARK: Settings

    /// A name for people. Unique to the queue unless set (contract M12).
    open var name: String? {
        get { lock.withLock { storedName } ?? "OperationQueue \(ObjectIdentifier(self))" }
        set { core.announcing([.queueName]) { lock.withLock { storedName = newValue } } }
    }

    /// The quality of service of operations that have none of their own (contract P13): of those added from then on.
    ///
    /// It affects the nice value of their threads as `Operation.qualityOfService` says, and never the order in which
    /// they start (contract N14). With an `underlyingQueue` it has no effect: that queue's own quality counts.
    open var qualityOfService: QualityOfService {
        get { lock.withLock { storedQualityOfService } }
        set {
            lock.withLock {
                storedQualityOfService = newValue
                core.setNewcomersBand(newValue.band)
            }
        }
    }

    /// The queue of Dispatch on which the operations run; nil, the default, stands for the engine's own threads. It is
    /// retained, which Foundation's on Linux is not.
    ///
    /// A serial one runs them one at a time, whatever `maxConcurrentOperationCount` says (contract P6), a concurrent
    /// one up to that many. Choosing the next operation stays with this queue: readiness, priorities and suspension
    /// work as ever. Dispatch decides on the threads, so a `threadPriority` is not applied (H4), and for blocked
    /// operations the engine does not see to further threads (N13). Its threads are shared fairly: after some
    /// operations, or a millisecond, other work of the Dispatch queue has its turn. Completion blocks run on threads of
    /// the engine. `DispatchQueue.main` is allowed too, and serves like `OperationQueue.main`.
    ///
    /// To be set while the queue is empty, else it is a `Misuse` without effect (contract P5).
    open var underlyingQueue: DispatchQueue? {
        get { core.underlyingQueue }
        set { if !core.move(to: newValue) { Misuse.underlyingQueueLate.report() } }
    }

    // MARK: Identity

    /// The class, the name and what the queue holds.
    open var description: String {
        "<\(type(of: self)) '\(name ?? "")' \(operationCount) operations\(isSuspended ? ", suspended" : "")>"
    }

    /// As `description`.
    open var debugDescription: String { description }

    /// Whether the other object is this queue. Decides `==`; the engine itself tells queues apart by identity.
    open func isEqual(_ object: Any?) -> Bool { (object as? OperationQueue) === self }

    /// What `hash(into:)` and `hashValue` go by. To be overridden together with `isEqual`.
    open var hash: Int { ObjectIdentifier(self).hashValue }

    /// False. With this, `self()` and the four above a queue has all that Foundation's `NSObjectProtocol` asks for, and
    /// so, with its `progress`, `ProgressReporting`.
    public final func isProxy() -> Bool { false }

    /// The queue itself.
    public final func `self`() -> Self { self }
}

/// Equality is identity, unless a subclass overrides `isEqual` and `hash`.
extension OperationQueue: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    /// What `isEqual` says.
    public static func == (left: OperationQueue, right: OperationQueue) -> Bool { left.isEqual(right) }
    /// Hashes `hash`.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

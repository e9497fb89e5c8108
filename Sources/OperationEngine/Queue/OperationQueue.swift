import Dispatch
import Synchronization

/// Runs operations on the threads of the engine's pool, or on its `underlyingQueue`. It starts ready operations only,
/// by priority, then in the order of adding, at most `maxConcurrentOperationCount` at once.
///
/// Every method and property may be used from any thread. A queue that its user drops runs its operations to the end,
/// and is freed then (contract Q3). Operations do not delay the end of the process, and a forked child cannot use the
/// queues of its parent: see <doc:ForkExitAndSignals>.
///
/// Names and signatures are those of Foundation's `OperationQueue`. <doc:Contract> lists the differences.
open class OperationQueue: @unchecked Sendable {
    /// The value of `maxConcurrentOperationCount` that leaves the number to the engine: as many as there are
    /// processors, at most the container's CPU quota, and more while operations are blocked, up to 64 or that number
    /// (contract N15).
    public static let defaultMaxConcurrentOperationCount = QueueState.defaultLimit

    private let liveMark = LiveMark(.operationQueue)
    let core = QueueCore()
    /// Details that few queues have. Guarded by `lock`.
    private let lock = FutexLock()
    private var storedName: String?
    private var storedQualityOfService = QualityOfService.default

    /// Makes a queue that is not suspended and leaves the number of concurrent operations to the engine.
    public init() {
        core.setOwner(self)
        QueueRegister.enter(core)
        if TraceMarks.changes { traceChange(.made(self)) }
    }

    deinit { QueueRegister.leave(core) }

    // MARK: The main queue and the caller's

    /// The queue whose operations run on the main thread, one at a time (contract P1).
    ///
    /// It shares the main thread with `DispatchQueue.main`, and gives way to its work now and then. On Linux the main
    /// thread serves both under a `RunLoop` of Foundation, or under `runMain()`. Under `dispatchMain()`, which ends the
    /// main thread, the operations still run one at a time, on threads of Dispatch, and `current` is still this queue.
    ///
    /// Its limit is 1 and its name is fixed. It cannot be suspended, and has no quality of service or other underlying
    /// queue. Setting any of these has no effect (contract N7, P4). A `threadPriority` is not applied there. Completion
    /// blocks run on a thread of the engine. `cancelAllOperations` works as for any queue (J10).
    ///
    /// A wait on the main thread for an operation of this queue never ends (contract O5).
    ///
    /// A subclass that overrides it changes what `Subclass.main` returns, and nothing else.
    open class var main: OperationQueue { MainOperationQueue.shared }

    /// The queue that runs the caller's operation. Outside of operations it is the main queue on the main thread and
    /// for blocks of `DispatchQueue.main`, and nil on other threads (contract P2). From any thread.
    ///
    /// An operation that is started by hand inside another one does not change it (contract B15, P3). All blocks of a
    /// `BlockOperation` find the queue of their operation. A completion block belongs to no queue.
    ///
    /// A subclass that overrides it changes what `Subclass.current` returns, and nothing else.
    open class var current: OperationQueue? {
        if let queue = Runner.current?.takeUnretainedValue().queue?.liveOwner { return queue }
        return MainOperationQueue.isCurrent ? MainOperationQueue.shared : nil
    }

    // MARK: Adding

    /// Adds an operation. The queue starts it as soon as it is ready and its turn has come. Adding an operation that is
    /// in a queue, executes or is finished is a `Misuse` (contract M6).
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
        guard type(of: self) == OperationQueue.self, !TraceMarks.forkedOrOperations else {
            return addWithCare(block)
        }
        // Observers of the queue are notified of every operation.
        if !core.hasObservers, core.add(block) { return core.tellIfObserved() }
        let operation = Unmanaged<Operation>.passRetained(BlockOperation(block: block))
        core.announcing([.operations, .operationCount]) { core.add(unknown: operation) }
    }

    /// The same for a subclass, in a forked child, and for a closure that is traced.
    @inline(never)
    private final func addWithCare(_ block: @escaping @Sendable () -> Void) {
        let isPlain = type(of: self) == OperationQueue.self && !ForkedChild.isOne && !core.hasObservers
        if isPlain, core.add(block, isTraced: true) { return core.tellIfObserved() }
        addOperation(BlockOperation(block: block))
    }

    /// Adds several operations in one step: all, or none if one of them cannot be added (contract M5).
    ///
    /// - Parameters:
    ///   - operations: what to add. An empty array changes nothing (M7).
    ///   - wait: whether to return only after all of these operations are finished (M4).
    ///
    /// Not available in an `async` function, as in Foundation: use `addOperation`, and `await finished()` to wait.
    @available(*, noasync, message: "Use 'addOperation' and 'await finished()' instead")
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

    /// Adds a block that runs alone. It runs after everything that was added before it is finished. What is added later
    /// waits for its end, whatever its priority (contract P7).
    ///
    /// A barrier runs where the queue's operations run, and obeys suspension and limit (P8, P9). It is neither listed
    /// in `operations` nor counted in `operationCount` (P10), but `waitUntilAllOperationsAreFinished` waits for it. If
    /// an operation of the same queue adds it, it runs after that operation. Completion blocks are not part of the
    /// operations: those of earlier operations may still run.
    ///
    /// `cancelAllOperations` cancels barriers too. A cancelled barrier does not run, and holds back nothing any more
    /// (P11). A single cancelled operation behind a barrier finishes at once, without its main, as elsewhere in a queue
    /// (J4, J5). If its class overrides `start`, it waits for the barrier.
    ///
    /// An operation added before a barrier must not depend on one added after it. Neither would run, nor would the
    /// barrier, until one of them is cancelled.
    open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        if ForkedChild.isRefused() { return }
        let operation = BarrierOperation(barrier)
        // No other thread knows it.
        _ = operation.state.claimForQueue()
        core.addBarrier(Unmanaged.passRetained(operation).takeUnretainedValue())
    }

    // Operations are claimed for their queue, then published. In between, a thread that announces the end of one spins
    // (see `finishFromAnyPhase`), and may hold any lock. So no user code is called in between: observers are notified
    // before.

    /// Why an operation cannot be added, as far as that is known before it is claimed. What the engine has done with it
    /// counts, not what its overrides say (contract C16). If there are observers, every operation is checked: the
    /// observers are notified next, and must not be notified of a change that does not happen.
    private func reasonAgainstAdding(_ operation: Operation) -> Misuse? {
        if ForkedChild.isOne { return .useAfterFork }
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
    /// time proportional to their number. It may be out of date when it returns (contract M9).
    open var operations: [Operation] { core.unfinishedOperations() }

    /// The number of unfinished operations. It takes the queue's lock, and time proportional to what was added since the
    /// queue was last looked at. It may be too high for a moment, while operations finish or threads add (contract M10,
    /// M11).
    open var operationCount: Int { core.operationCount }

    // MARK: Control

    /// How many operations execute at once. 0 starts nothing. Raising it starts waiting operations at once. Lowering it
    /// lets the executing ones go on (contract N1–N6). A negative number other than the default is a `Misuse`.
    ///
    /// More operations than processors execute at once only when operations block, on up to 512 threads of the engine
    /// (N13).
    open var maxConcurrentOperationCount: Int {
        get { core.read { $0.limit } }
        set {
            guard newValue >= 0 || newValue == Self.defaultMaxConcurrentOperationCount else {
                return Misuse.negativeLimit(newValue).report()
            }
            core.announcing([.maxConcurrentOperationCount]) { core.change { $0.setLimit(newValue) } }
            if TraceMarks.changes { traceChange(.limit(self)) }
        }
    }

    /// While true, nothing new starts. Operations that were chosen before the setter returned go on, at most one per
    /// slot (contract N9–N12).
    open var isSuspended: Bool {
        get { core.read { $0.isSuspended } }
        set {
            // In time before what the change causes.
            if TraceMarks.changes { traceChange(newValue ? .suspended(self) : .resumed(self)) }
            core.announcing([.isSuspended]) { core.change { $0.isSuspended = newValue } }
        }
    }

    /// Cancels every operation and every barrier that is in the queue now, and returns at once (contract J10, J11).
    open func cancelAllOperations() {
        let all = core.cancelWaiting()
        for operation in all where !operation.isBarrier { operation.cancel() }
        // Barriers last: a cancelled barrier releases the operations behind it, and these have to be cancelled by then.
        for barrier in all where barrier.isBarrier { barrier.cancel() }
    }

    /// Blocks the calling thread until the queue is empty. It waits for barriers and for what is added meanwhile, too
    /// (contract O3, O4).
    ///
    /// An operation of the same queue must not call it, because it would wait for its own end. Nor may it be called on
    /// the main thread for the main queue (contract O5).
    ///
    /// Not available in an `async` function, whose thread others need: use `await drained()` there.
    @available(*, noasync, message: "Use 'await drained()' instead")
    open func waitUntilAllOperationsAreFinished() { _ = wait(.never) }

    /// As `waitUntilAllOperationsAreFinished()`, but gives up after `timeout`. Returns whether the queue was empty.
    @available(*, noasync, message: "Use 'await drained()' instead")
    @discardableResult
    public final func waitUntilFinished(timeout: Duration) -> Bool { wait(Deadline(after: timeout)) }

    // MARK: Settings

    /// The name that was set; nil if none was.
    final var ownName: String? { lock.withLock { storedName } }

    /// A name for people. Unique to the queue unless set (contract M12).
    open var name: String? {
        get { ownName ?? "OperationQueue \(ObjectIdentifier(self))" }
        set {
            core.announcing([.queueName]) { lock.withLock { storedName = newValue } }
            if TraceMarks.changes { traceChange(.name(self)) }
        }
    }

    /// The quality of service of operations that have none of their own. It applies to operations added after it was
    /// set (contract P13).
    ///
    /// It affects the nice value of their threads as `Operation.qualityOfService` describes, and never the order in
    /// which they start (contract N14). With an `underlyingQueue` it has no effect: that queue's own quality counts.
    open var qualityOfService: QualityOfService {
        get { lock.withLock { storedQualityOfService } }
        set {
            lock.withLock {
                storedQualityOfService = newValue
                core.setNewcomersBand(newValue.band)
            }
        }
    }

    /// The queue of Dispatch on which the operations run. Nil, the default, selects the engine's own threads. The
    /// queue is retained; Foundation on Linux does not retain it.
    ///
    /// A serial queue runs them one at a time, whatever `maxConcurrentOperationCount` says (contract P6). A concurrent
    /// queue runs up to that many. This queue still chooses the next operation, so readiness, priorities and suspension
    /// work as always.
    ///
    /// Dispatch decides on the threads. So a `threadPriority` is not applied (H4), and the engine adds no threads for
    /// blocked operations (N13). The threads are shared fairly: after some operations, or a millisecond, other work of
    /// the Dispatch queue has its turn. Completion blocks run on threads of the engine. `DispatchQueue.main` is allowed
    /// too, and works like `OperationQueue.main`.
    ///
    /// Set it while the queue is empty. Otherwise setting it is a `Misuse` without effect (contract P5).
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

    /// Whether the other object is this queue. Decides `==`. The engine itself compares queues by identity.
    open func isEqual(_ object: Any?) -> Bool { (object as? OperationQueue) === self }

    /// The value behind `hash(into:)` and `hashValue`. Override it together with `isEqual`.
    open var hash: Int { ObjectIdentifier(self).hashValue }

    /// False. With this, `self()` and the four members above, a queue has all that Foundation's `NSObjectProtocol`
    /// requires. Together with its `progress` it has what `ProgressReporting` requires.
    public final func isProxy() -> Bool { false }

    /// The queue itself.
    public final func `self`() -> Self { self }
}

/// Equality is identity, unless a subclass overrides `isEqual` and `hash`.
extension OperationQueue: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The result of `isEqual`.
    public static func == (left: OperationQueue, right: OperationQueue) -> Bool { left.isEqual(right) }
    /// Hashes `hash`.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension OperationQueue {
    /// Suspends the calling task until the queue is empty for an instant. It waits for what is added meanwhile, too. No
    /// thread blocks (contract O8).
    ///
    /// An operation of the same queue must not await it, because it would wait for its own end.
    ///
    /// - Returns: true if the queue was empty, false if the awaiting task was cancelled before.
    @discardableResult
    public nonisolated(nonsending) final func drained() async -> Bool { await core.drained() }
}

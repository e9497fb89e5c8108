import CLinux
import Synchronization

/// A single-shot piece of work with a state, dependencies, a priority and a completion block.
///
/// Subclass it and override `main`, or use `BlockOperation`. Add it to an `OperationQueue`, which starts it on a thread
/// of its own pool as soon as it is ready, or call `start()` by hand.
///
/// Every property and method may be used from any thread (contract A6). Configure an operation before you add it. Later
/// changes are safe, but may come too late.
///
/// Names and signatures are those of Foundation's `Operation`. <doc:Contract> lists the differences.
open class Operation: @unchecked Sendable {
    /// The part of the operation's state that several threads change. The first property: see
    /// `DependencyEdge.state(of:)`.
    let state = OperationState()

    /// The operation's part as an item of its queue. Used through `asItem` alone. The second property: see `itemOffset`.
    @exclusivity(unchecked) final var item = QueueItem(.operation)

    /// Guards `detailsWord` and `dependencyEdges`. Taken before any operation's `successors` and any queue's lock.
    let lock = FutexLock()
    private let liveMark = LiveMark(.operation)

    /// The operations that this one depends on, latest first. Retained.
    let dependencyEdges = DependencyList()
    /// The operations that depend on this one. No other lock is taken while it is locked.
    let successors = SuccessorList()
    /// Settings that few operations have. Guarded by `lock`.
    @exclusivity(unchecked) final var detailsWord = DetailsWord()

    /// The queue that this operation belongs to. The adding thread writes it once, after it has claimed the operation
    /// and before it publishes it. Not retained: a thread that follows it has to know that the operation cannot have
    /// left the queue. Such threads are the worker that runs the operation, and the one thread that files it.
    @exclusivity(unchecked) final var queue: Unmanaged<QueueCore>?

    /// A ready operation of normal priority, in no queue (contract A2).
    @inline(__always)
    public init() { checkLayout() }

    deinit {
        if state.load().has(OperationState.Word.hasDependencies) { releaseDependencies() }
        detailsWord.release()
        state.releaseObservers()
    }

    // MARK: State

    /// Whether all dependencies are finished, or the operation is cancelled. Finishing does not change it (contract
    /// A3).
    open var isReady: Bool { state.load().isReady }

    /// Whether the operation runs now. Never true together with `isFinished` (contract A3).
    open var isExecuting: Bool { state.load().phase == .executing }

    /// Whether the work has ended, or was skipped because the operation was cancelled (contract A4).
    ///
    /// A subclass may override it. Then the engine's own `start` ends the operation after `main` only if the override
    /// says so. Otherwise the operation continues until the subclass announces the end. If `main` is left out, because
    /// the operation was cancelled before or by its `dependencyFailurePolicy`, `start` ends it without asking (contract
    /// C14).
    open var isFinished: Bool {
        let word = state.load()
        return word.isFinished || word.has(OperationState.Word.isEnding) && isBeingAsked
    }

    /// Whether `cancel` was called before the end. One atomic load: cheap enough for an inner loop (contract A7).
    open var isCancelled: Bool { state.load().isCancelled }

    /// Whether the work continues after `start` has returned. False unless overridden. A queue ignores it.
    open var isAsynchronous: Bool { false }

    /// The older name of `isAsynchronous`.
    open var isConcurrent: Bool { isAsynchronous }

    // MARK: Running

    /// The work. Override it. There is no need to call `super`. `start` calls it. Do not call it by hand: that would
    /// run the work without any change of state (contract B11).
    open func main() {}

    /// Runs `main` on the calling thread and returns when the operation is finished (contract B1–B9).
    ///
    /// A cancelled operation finishes without `main`. A finished one returns at once. It is a `Misuse` to start an
    /// operation that is not ready, that executes, or that is in a queue. Queues call this. Call it by hand only for
    /// operations in no queue. An override that a queue has called may call `super.start()` later, on a thread of its
    /// choice. Then `main` runs there, and the operation holds its slot until the end.
    open func start() { start(on: Runner.about(toStart: self)) }

    /// The engine's own start, on the runner that has chosen the operation for its queue, or elsewhere with nil.
    @inline(__always)
    final func start(on runner: Unmanaged<Runner>?) {
        var starter = OperationState.Starter.runner
        var ownReadiness: Bool?
        if runner == nil {
            starter = .hand
            if overridesItsCourse {
                if MethodOverride.start.isPresent(in: self) { starter = .ownStart }
                guard prepareStart(&ownReadiness) else { return Misuse.startExecuting.report() }
            }
        }
        if state.isObserved { announceStart() }
        var verdict = state.begin(by: starter, ownReadiness: ownReadiness)
        if case .takeCare(let phase) = verdict {
            verdict = beginWithCare(by: starter, ownReadiness: ownReadiness, from: phase)
        }
        if state.isObserved { resolveStart(hasBegun: verdict.isRun) }
        switch verdict {
        case .run:
            run(on: runner)
        case .takeCare:
            break  // It has been taken above.
        case .runElsewhere:
            runElsewhere()
        case .runAsTask:
            if TraceMarks.operations { traceStartOfMain(on: runner) }
            launch()
        case .leaveOut(let flag, let phase):
            finish(from: phase, setting: flag, on: runner)
        case .alreadyFinished:
            // If it announced its own end after a runner had chosen it, no one has misused it.
            if starter != .runner, Misuse.isStrict { Misuse.startFinished.report() }
        case .refused(let misuse):
            misuse.report()
        }
    }

    /// Runs an operation that has begun, on the thread that began it: the one that called `start`, or the runner that
    /// has chosen it.
    @inline(__always)
    final func run(on runner: Unmanaged<Runner>?) {
        if TraceMarks.operations { traceStartOfMain(on: runner) }
        callMain()
        if runner != nil { tellEndOfMain() }
        finish(from: .executing, on: runner)
    }

    /// For the most common class it does directly what `main` would do.
    @inline(__always)
    private final func callMain() {
        let word = state.load()
        if word.has(OperationState.Word.isPlainBlock) {
            unsafeDowncast(self, to: BlockOperation.self).runBlocks(word)
        } else {
            main()
        }
    }

    /// Whether the class overrides `start`, `isReady` or `isFinished`.
    @inline(__always)
    final var overridesItsCourse: Bool {
        !state.load().has(OperationState.Word.isPlainBlock) && MethodOverride.isPresentInCourse(of: self)
    }

    /// Prepares a start by hand of an operation that overrides `start`, `isReady` or `isFinished`. Returns false if the
    /// start is refused: another one is asking the overridden `isReady`.
    ///
    /// - Parameter ownReadiness: set to the answer of an overridden `isReady`.
    @inline(never)
    private func prepareStart(_ ownReadiness: inout Bool?) -> Bool {
        if MethodOverride.isFinished.isPresent(in: self) { state.setOwnEnd() }
        guard state.load().phase == .idle, MethodOverride.isReady.isPresent(in: self) else { return true }
        ownReadiness = askForStart()
        return ownReadiness != nil
    }

    /// Runs an operation whose overridden `start` has handed it to this thread. No other thread runs it from here on.
    @inline(never)
    private func runElsewhere() {
        let queue = keptQueue()
        main()
        queue?.tellEndOfMain()
        finish(from: .executing, on: nil)
    }

    /// Asks the operation to stop. This sets a flag and interrupts nothing: `main` polls `isCancelled`. An operation
    /// that has not started becomes ready, whatever it depends on. Its queue starts it soon, and it finishes without
    /// `main` (contract J1–J9).
    open func cancel() {
        let before = state.load()
        guard !before.isCancelled, !before.isFinished else { return }
        observers?.willChange(.isCancelled)
        if !before.isReady { observers?.willChange(.isReady) }
        let (consequence, old) = state.cancel(finishesWithoutSlot: !MethodOverride.start.isPresent(in: self))
        observers?.resolveChange(.isCancelled, hasHappened: old != nil)
        if old != nil, TraceMarks.changes { traceCancellation() }
        if let old, !old.isReady {
            observers?.didChange(.isReady)
        } else if !before.isReady {
            observers?.forgetChange(.isReady)
        }
        if consequence == .file, let old { fileWithQueue(becameReady: !old.isReady) }
        if let old, old.phase == .idle { askOutsideQueue() }
    }

    /// Finishes an operation that the engine's own `start` ran or left out, or its task. Not one that ran, overrides
    /// `isFinished`, and says no there (contract C14).
    ///
    /// - Parameters:
    ///   - phase: where `start` found or left the operation. If the operation is in another phase by now, another
    ///     thread has started it or added it to a queue, and will finish it.
    ///   - flag: set in the state word together with the phase.
    ///   - runner: the runner that runs it for a queue. It calls the completion block once the slot is free. Nil if the
    ///     operation was started by hand: then the block goes to a thread of the pool.
    @inline(__always)
    func finish(from phase: OperationState.Phase, setting flag: UInt64 = 0, on runner: Unmanaged<Runner>?) {
        let isToBePrepared = state.load().has(OperationState.Word.hasObservers | OperationState.Word.hasOwnEnd)
        if isToBePrepared, !prepareFinish(from: phase) { return }
        guard let last = state.finish(from: phase, setting: flag) else {
            if state.isObserved { forgetFinish(from: phase) }
            return
        }
        // What an overridden `start` does after this is not part of the operation (contract C6). And an operation that
        // ran as a task may end after its `start` has returned.
        let leavesQueue = last.leavesQueueByItself
        conclude(last, on: leavesQueue ? nil : runner, leavesQueue: leavesQueue)
    }

    /// Follows the transition to finished, once for every operation. Operations that end unnoticed need less: see
    /// `QueueCore.endDropped`.
    ///
    /// - Parameters:
    ///   - last: the word before the transition.
    ///   - runner: the runner that has the operation in hand, and calls the completion block once the slot is free. Nil
    ///     if the operation leaves its queue here, or is in no runner's hand.
    ///   - leavesQueue: whether no runner takes it out of its queue.
    ///   - announcer: who has announced the end.
    @inline(__always)
    func conclude(
        _ last: OperationState.Word, on runner: Unmanaged<Runner>?, leavesQueue: Bool, by announcer: Announcer = .engine
    ) {
        // With both events or with neither.
        let isTraced = TraceMarks.operations
        if isTraced { traceFinish() }
        if last.has(OperationState.Word.isPlainBlock) {
            unsafeDowncast(self, to: BlockOperation.self).executionEnded(last)
        } else {
            executionEnded(last)
        }
        var hasKept = false
        if !successors.isEmpty {
            // An observer may run for long after this. So with observers the dependents are filed here.
            hasKept = releaseSuccessors(own: last.has(OperationState.Word.hasObservers) ? nil : runner)
        }
        if last.has(OperationState.Word.hasAwaiters) { resumeAwaiters() }
        // An observer that the flags of `last` do not show came after the change, and read the new value.
        if last.has(OperationState.Word.hasObservers) { tellFinish(last, by: announcer) }
        // Before a thread that waits for the queue goes on.
        if isTraced { traceNotified() }
        // Before the completion block, which may wait for the queue.
        if leavesQueue { withdraw(last) }
        if last.has(OperationState.Word.hasCompletion) {
            if let runner {
                runner._withUnsafeGuaranteedRef { $0.owesCompletion = true }
            } else if let block = takeCompletionBlock() {
                callCompletionBlock(block.run)
            }
        }
        if hasKept { Runner.releaseKept() }
    }

    /// Releases what only the execution needed (contract K13, Q5). Called on the finishing thread, with the word from
    /// before the finish, or with a later one that has the same flags. A second call finds nothing to release.
    func executionEnded(_ last: OperationState.Word) {}

    /// Begins the work of an operation that runs as a task, and returns. The task calls `finish`.
    func launch() {}

    /// Blocks the calling thread until the operation is finished. Returns at once if it is.
    ///
    /// An overridden `isFinished` that says yes ends the wait too, announced or not, when the wait begins and whenever
    /// the thread wakes (C15).
    ///
    /// If a worker of the engine waits, another one takes its place (contract O6). An operation that waits for a later
    /// one of its own queue with limit 1 waits forever, and so does the main thread if it waits for an operation of the
    /// main queue. It is a `Misuse` if an operation waits for itself (O5).
    ///
    /// Not available in an `async` function, whose thread others need: use `await finished()` there.
    @available(*, noasync, message: "Use 'await finished()' instead")
    open func waitUntilFinished() { _ = wait(.never) }

    // MARK: Dependencies

    /// Makes this operation wait until `operation` is finished, whichever queues they are in (contract E1–E10).
    ///
    /// Call it before you add this operation to a queue. A later call has effect only if it comes before the operation
    /// begins. Otherwise the dependency is only listed (E18, E19). Operations in a cycle never become ready. An
    /// operation that is made to depend on itself is a `Misuse`.
    open func addDependency(_ operation: Operation) { linkDependency(operation) }

    /// Undoes `addDependency`, however many times it was called (contract E9, E13, E14).
    open func removeDependency(_ operation: Operation) { unlinkDependency(operation) }

    /// The operations that were added by `addDependency` and not removed, in the order of adding and without
    /// repetitions. Finished ones are included (contract E9–E12).
    open var dependencies: [Operation] { listDependencies() }

    // MARK: Settings

    /// How urgent the operation is among the ready ones of its queue. Changing it while the operation waits puts the
    /// operation at the back of its new level (contract G10).
    open var queuePriority: QueuePriority {
        get { QueuePriority(level: state.load().level) }
        set {
            let isChange = state.load().level != newValue.level
            if isChange { observers?.willChange(.queuePriority) }
            let consequence = state.setLevel(newValue.level)
            if isChange { observers?.didChange(.queuePriority) }
            if consequence == .file { fileWithQueue() }
        }
    }

    /// The priority of the thread while it runs `main`, from 0.0 (lowest) to 1.0, by default 0.5. Other values are
    /// clamped.
    ///
    /// On Linux it selects one of nine nice values, from 19 above the main thread's to 20 below it (contract H6).
    /// `effectiveThreadPriority` says what the process may really have. The engine reads it when it chooses the
    /// operation. It is not applied to a start by hand (H8), to an overridden `start` (H4, H9), on an
    /// `underlyingQueue`, or on the main queue.
    open var threadPriority: Double {
        get { withDetails { $0?.threadPriority } ?? NiceBand.normalPriority }
        set {
            let priority = newValue.isNaN ? NiceBand.normalPriority : min(max(newValue, 0), 1)
            let isForMain =
                !MethodOverride.start.isPresent(in: self) && !state.load().has(OperationState.Word.runsAsTask)
            let band = isForMain ? NiceBand(threadPriority: priority).permitted : .normal
            // Both under the lock: if two threads set it at once, value and band come from the same thread.
            let consequence = withNewDetails {
                $0.threadPriority = priority
                return state.setBand(band)
            }
            if consequence == .file { fileWithQueue() }
        }
    }

    /// The thread priority that `main` really gets on a thread of the engine. It is that of `threadPriority`, or of the
    /// quality of service, at the nearest of the nine bands. It is 0.5 where that is higher and the process may not
    /// raise priorities (contract H7), and where `start` is overridden.
    public final var effectiveThreadPriority: Double { state.load().band.threadPriority }

    /// Called once after the operation is finished, on a thread of the pool, and then cleared (contract I1–I10). The
    /// operation lives until the block has returned: a block that captures it weakly, to break the cycle, finds it
    /// (Q9).
    ///
    /// If it is set while the operation executes, it is called. If it is set on a finished operation, it is never
    /// called. With `Misuse.isStrict` both are misuse.
    open var completionBlock: (@Sendable () -> Void)? {
        get { lock.withLock { detailsWord.completionBlock.copy }?.run }
        set { setCompletionBlock(newValue) }
    }

    /// The kind of work that this is. `default` leaves it to the queue's `qualityOfService` (contract P13).
    ///
    /// On Linux it sets the nice value of the thread during `main` if no `threadPriority` was set: 10 for `background`,
    /// 5 for `utility`, 0 for the others. It does not affect the order in which operations start (N14). Where a
    /// `threadPriority` has no effect, it has none either.
    open var qualityOfService: QualityOfService {
        get { withDetails { $0?.qualityOfService } ?? .default }
        set {
            let consequence = withNewDetails {
                $0.qualityOfService = newValue
                return $0.threadPriority == nil ? state.setBand(band(of: newValue)) : .none
            }
            if consequence == .file { fileWithQueue() }
        }
    }

    /// A name for people, shown in `description`.
    open var name: String? {
        get { withDetails { $0?.name } }
        set { withNewDetails { $0.name = newValue } }
    }

    // MARK: Identity

    /// The class, the address, the name and the state.
    open var description: String {
        let word = state.load()
        let label = name.map { " '\($0)'" } ?? ""
        return "<\(type(of: self)) \(addressText)\(label) \(word.phase)\(word.isCancelled ? " cancelled" : "")>"
    }

    /// As `0x7f0012345678`.
    final var addressText: String {
        "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
    }

    /// As `description`.
    open var debugDescription: String { description }

    /// Whether the other object is this operation. Decides `==`. The engine itself compares operations by identity.
    open func isEqual(_ object: Any?) -> Bool { (object as? Operation) === self }

    /// The value behind `hash(into:)` and `hashValue`. Override it together with `isEqual`.
    open var hash: Int { ObjectIdentifier(self).hashValue }

    /// False. With this, `self()` and the four members above, an operation has all that Foundation's `NSObjectProtocol`
    /// requires. So a subclass may be the delegate of a URL session.
    public final func isProxy() -> Bool { false }

    /// The operation itself.
    public final func `self`() -> Self { self }
}

/// Equality is identity, unless a subclass overrides `isEqual` and `hash`.
extension Operation: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The result of `isEqual`.
    public static func == (left: Operation, right: Operation) -> Bool { left.isEqual(right) }
    /// Hashes `hash`.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

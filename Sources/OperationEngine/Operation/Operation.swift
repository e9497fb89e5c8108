import CLinux
import Synchronization

/// A single-shot piece of work with a state, dependencies, a priority and a completion block.
///
/// Subclass it and override `main`, or use `BlockOperation`. Add it to an `OperationQueue`, which starts it on a thread
/// of its own pool as soon as it is ready, or call `start()` by hand.
///
/// Every property and method may be used from any thread (contract A6). Configure an operation before it is added:
/// later changes are safe for the engine, but may come too late.
///
/// Names and signatures are those of Foundation's `Operation`; the differences are listed in the documentation.
open class Operation: @unchecked Sendable {
    /// All of the operation's state that several threads change; see `OperationState`. The first property: see
    /// `DependencyEdge.state(of:)`.
    let state = OperationState()
    private let liveMark = LiveMark(.operation)

    /// Guards `details` and `dependencyEdges`. Taken before any operation's `successors` and any queue's lock.
    let lock = FutexLock()
    /// Which list of its queue the operation is in. Guarded by the queue's lock. Here it fits beside the lock's word.
    @exclusivity(unchecked) final var place = QueuePlace.none

    /// The edges to the operations that this one depends on, latest first; owned.
    let dependencyEdges = DependencyList()
    /// The edges of the operations that depend on this one. No other lock is taken while it is locked.
    let successors = SuccessorList()
    /// What few operations have. Guarded by `lock`.
    @exclusivity(unchecked) final var details: OperationDetails?

    /// The queue that this operation belongs to: written once, by the adding thread that claimed the operation and
    /// before it publishes it. Not retained; whoever follows it proves that the operation cannot have left the queue:
    /// a worker that runs it, or the one thread that files it.
    @exclusivity(unchecked) final var queue: Unmanaged<OperationHost>?
    /// Links of the operation in its queue's inbox and lists, and its number there. `next` belongs to the adding thread
    /// until it publishes the operation in the inbox; from there on all three are guarded by the queue's lock.
    @exclusivity(unchecked) final var next: ReadyItem?
    @exclusivity(unchecked) final var previous: ReadyItem?
    @exclusivity(unchecked) final var sequence: UInt64 = 0

    /// A ready operation of normal priority, in no queue (contract A2).
    public init() {}

    deinit {
        if dependencyEdges.first != nil { DependencyEdge.releaseAll(of: self) }
        state.releaseObservers()
    }

    // MARK: State

    /// Whether all dependencies are finished, or the operation is cancelled. Finishing does not change it (contract A3).
    open var isReady: Bool { state.load().isReady }

    /// Whether the operation runs now. Never true together with `isFinished` (contract A3).
    open var isExecuting: Bool { state.load().phase == .executing }

    /// Whether the work has ended, or was left out because of a cancellation (contract A4).
    open var isFinished: Bool { state.load().isFinished }

    /// Whether `cancel` was called before the end. One atomic load: cheap enough for an inner loop (contract A7).
    open var isCancelled: Bool { state.load().isCancelled }

    /// Whether the work goes on after `start` has returned. False unless overridden; a queue ignores it.
    open var isAsynchronous: Bool { false }

    /// The older name of `isAsynchronous`.
    open var isConcurrent: Bool { isAsynchronous }

    // MARK: Running

    /// The work. Override it; there is no need to call `super`. Called by `start`, never to be called by hand: that
    /// would run the work without any change of state (contract B11).
    open func main() {}

    /// Runs `main` on the calling thread and returns when the operation is finished (contract B1–B9).
    ///
    /// A cancelled operation finishes without `main`; a finished one returns at once. Starting one that is not ready,
    /// that executes, or that is in a queue is a `Misuse`. Queues call this; call it by hand only for operations
    /// in no queue. An override that a queue has called may call `super.start()` later, on a thread of its choice:
    /// `main` runs there, and the operation holds its slot until the end.
    open func start() { start(on: OperationThread.about(toStart: self)) }

    /// The engine's own start: on the runner that has chosen the operation for its queue, or elsewhere.
    @inline(__always)
    final func start(on runner: Unmanaged<OperationThread>?) {
        let starter: OperationState.Starter =
            runner != nil ? .runner : MethodOverride.start.isPresent(in: self) ? .ownStart : .hand
        var ownReadiness: Bool?
        if starter != .runner, state.load().phase == .idle, MethodOverride.isReady.isPresent(in: self) {
            guard let answer = askForStart() else { return Misuse.startExecuting.report() }
            ownReadiness = answer
        }
        if state.isObserved { announceStart() }
        var verdict = state.begin(by: starter, ownReadiness: ownReadiness)
        if case .takeCare(let phase) = verdict {
            verdict = beginWithCare(by: starter, ownReadiness: ownReadiness, from: phase)
        }
        if state.isObserved { settleStart(hasBegun: verdict.isRun) }
        switch verdict {
        case .run:
            if TraceMarks.operations { traceStartOfMain(on: runner) }
            main()
            if starter == .runner { tellEndOfMain() }
            finish(from: .executing, on: runner)
        case .skip(let phase):
            finish(from: phase, on: runner)
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
            // One that has announced its end since a runner chose it is nobody's misuse.
            if starter != .runner, Misuse.isStrict { Misuse.startFinished.report() }
        case .refused(let misuse):
            misuse.report()
        }
    }

    /// Runs what an overridden `start` has handed to another thread, which is the operation's only runner from here on.
    @inline(never)
    private func runElsewhere() {
        let queue = keptQueue()
        main()
        queue?.tellEndOfMain()
        finish(from: .executing, on: nil)
    }

    /// Asks the operation to stop. Sets a flag and interrupts nothing: `main` polls `isCancelled`. An operation that
    /// has not started becomes ready whatever it depends on; once it is started, as its queue does soon, it finishes
    /// without `main` (contract J1–J9).
    open func cancel() {
        let before = state.load()
        guard !before.isCancelled, !before.isFinished else { return }
        observers?.willChange(.isCancelled)
        if !before.isReady { observers?.willChange(.isReady) }
        let (consequence, old) = state.cancel(finishesWithoutSlot: !MethodOverride.start.isPresent(in: self))
        observers?.settleChange(.isCancelled, hasHappened: old != nil)
        if let old, !old.isReady {
            observers?.didChange(.isReady)
        } else if !before.isReady {
            observers?.forgetChange(.isReady)
        }
        if consequence == .file, let old { fileWithQueue(becameReady: !old.isReady) }
        if let old, old.phase == .idle { askOutsideQueue() }
    }

    /// The end of an operation that the engine's own `start` ran, or the task that it launched.
    ///
    /// - Parameters:
    ///   - phase: where `start` found or left the operation. If it is elsewhere by now, another thread has started it
    ///     or added it to a queue, and brings it to its end.
    ///   - flag: of the state word, set together with the phase.
    ///   - runner: what runs it for a queue, and calls the completion block once the slot is free again;
    ///     nil if started by hand, when the block goes to a thread of the pool.
    func finish(from phase: OperationState.Phase, setting flag: UInt64 = 0, on runner: Unmanaged<OperationThread>?) {
        if state.isObserved { announceFinish(from: phase) }
        guard let last = state.finish(from: phase, setting: flag) else {
            if state.isObserved { forgetFinish(from: phase) }
            return
        }
        // What an overridden `start` does after this is no part of the operation (contract C6); and one that ran as a
        // task may end when its `start` has returned.
        let leavesQueue = last.leavesQueueByItself
        conclude(last, on: leavesQueue ? nil : runner) {
            // An observer that is not among the flags of `last` came after the change, and knows of it.
            if last.has(OperationState.Word.hasObservers) { settleFinish(from: phase) }
        } leave: {
            if leavesQueue { queue?.takeUnretainedValue().withdraw(self) }
        }
    }

    /// What follows the transition to finished, once, for every operation but those that end unnoticed, of which there is
    /// less to do: `QueueCore.endDropped`.
    ///
    /// - Parameters:
    ///   - runner: who has it in hand, and calls the completion block once the slot is free; nil if it has left by the end of
    ///     `leave`, or is in no runner's hand.
    ///   - announce: tells the observers.
    ///   - leave: takes the operation out of its queue, if no runner does. Before the completion block is called, which
    ///     may wait for the queue.
    @inline(__always)
    func conclude(
        _ last: OperationState.Word, on runner: Unmanaged<OperationThread>?, announce: () -> Void, leave: () -> Void
    ) {
        // Of the queue, which may be gone afterwards; 0 if nothing is to be told.
        let traceID = TraceMarks.operations ? traceFinish() : 0
        executionEnded(last)
        var hasKept = false
        if !successors.isEmpty {
            // An observer may go on for long after this: then the dependents are filed here.
            hasKept = releaseSuccessors(own: last.has(OperationState.Word.hasObservers) ? nil : runner)
        }
        if last.has(OperationState.Word.hasAwaiters) { resumeAwaiters() }
        announce()
        // Before whoever waits for the queue goes on.
        if traceID != 0 { traceNotified(traceID) }
        leave()
        if last.has(OperationState.Word.hasCompletion), let block = takeCompletionBlock() {
            if let runner {
                runner.takeUnretainedValue().completionBlock = block
            } else {
                Self.callOnPool(block)
            }
        }
        if hasKept { OperationThread.releaseKept() }
    }

    /// Lets go of what only the execution needed (contract K13, Q5). Called on the finishing thread, with the word before
    /// the finish, or with one since, whose flags are the same. The second time there is nothing left.
    func executionEnded(_ last: OperationState.Word) {}

    /// Begins the work of an operation that runs as a task, and returns. The task calls `finish`.
    func launch() {}

    /// Blocks the calling thread until the operation is finished; returns at once if it is.
    ///
    /// On a worker of the engine another one takes over meanwhile (contract O6). An operation that waits for a later
    /// one of its own queue with limit 1 waits for ever, as does the main thread for one of the main queue; one that
    /// waits for itself is a `Misuse` (O5).
    open func waitUntilFinished() { _ = wait(.never) }

    // MARK: Dependencies

    /// Makes this operation wait until `operation` is finished, whichever queue either is in (contract E1–E10).
    ///
    /// To be called before this operation is added to a queue. Later, it has effect only if it comes before the
    /// operation begins, and is otherwise merely listed (E18, E19). A cycle is never ready. Depending on itself is a
    /// `Misuse`.
    open func addDependency(_ operation: Operation) { linkDependency(operation) }

    /// Undoes `addDependency`, all of them if it was called several times (contract E9, E13, E14).
    open func removeDependency(_ operation: Operation) { unlinkDependency(operation) }

    /// The operations added by `addDependency` and not removed, in that order, without repetitions, finished ones
    /// included (contract E9–E12).
    open var dependencies: [Operation] { listDependencies() }

    // MARK: Settings

    /// Which of a queue's ready operations go first. Changing it while the operation waits puts it at the back of
    /// its new level (contract G10).
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

    /// The priority of the thread while it runs `main`, 0.0 (lowest) to 1.0, by default 0.5. Other values are clamped.
    ///
    /// On Linux it selects one of nine nice values, 19 above the main thread's to 20 below it (contract H6); see
    /// `effectiveThreadPriority` for what the process may really have. Read when the operation is chosen. Not applied when
    /// started by hand (H8), nor to an overridden `start` (H4, H9), nor on an `underlyingQueue` or the main queue.
    open var threadPriority: Double {
        get { withDetails { $0?.threadPriority } ?? NiceBand.normalPriority }
        set {
            let priority = newValue.isNaN ? NiceBand.normalPriority : min(max(newValue, 0), 1)
            let isForMain =
                !MethodOverride.start.isPresent(in: self) && !state.load().has(OperationState.Word.runsAsTask)
            let band = isForMain ? NiceBand(threadPriority: priority).permitted : .normal
            // Both under the lock: of two threads that set it, one sets value and band.
            let consequence = withNewDetails {
                $0.threadPriority = priority
                return state.setBand(band)
            }
            if consequence == .file { fileWithQueue() }
        }
    }

    /// The thread priority that `main` really gets on a thread of the engine: that of `threadPriority`, or of the
    /// quality of service, at the nearest of the nine bands, or 0.5 where it is above that and the process may not raise
    /// priorities (contract H7), or where `start` is overridden.
    public final var effectiveThreadPriority: Double { state.load().band.threadPriority }

    /// Called once after the operation is finished, on a thread of the pool, and then cleared (contract I1–I10).
    ///
    /// Set while executing it is honoured, set when finished it never runs; with `Misuse.isStrict` both are misuse.
    open var completionBlock: (@Sendable () -> Void)? {
        get { withDetails { $0?.completionBlock } }
        set { setCompletionBlock(newValue) }
    }

    /// The kind of work that this is; `default` leaves it to the queue's `qualityOfService` (contract P13).
    ///
    /// On Linux it sets how urgent the thread is during `main` if no `threadPriority` was set: nice 10 for
    /// `background`, 5 for `utility`, 0 for the others. It has no effect on the order in which operations start (N14),
    /// nor where a `threadPriority` has none.
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
        let address = String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
        let label = name.map { " '\($0)'" } ?? ""
        return "<\(type(of: self)) 0x\(address)\(label) \(word.phase)\(word.isCancelled ? " cancelled" : "")>"
    }

    /// As `description`.
    open var debugDescription: String { description }

    /// Whether the other object is this operation. Decides `==`; the engine itself tells operations apart by identity.
    open func isEqual(_ object: Any?) -> Bool { (object as? Operation) === self }

    /// What `hash(into:)` and `hashValue` go by. To be overridden together with `isEqual`.
    open var hash: Int { ObjectIdentifier(self).hashValue }

    /// False. With this, `self()` and the four above an operation has all that Foundation's `NSObjectProtocol` asks for,
    /// so that a subclass may be the delegate of a URL session.
    public final func isProxy() -> Bool { false }

    /// The operation itself.
    public final func `self`() -> Self { self }
}

/// Equality is identity, unless a subclass overrides `isEqual` and `hash`.
extension Operation: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    /// What `isEqual` says.
    public static func == (left: Operation, right: Operation) -> Bool { left.isEqual(right) }
    /// Hashes `hash`.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

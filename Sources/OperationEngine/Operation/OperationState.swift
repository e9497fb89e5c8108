import CLinux
import Synchronization

/// An operation's state: one 64-bit word, changed only by the transitions below.
///
/// ```
/// 63           36 35        16 15  12 11     11 10 8 7     4 3     0
/// ┌──────────────┬────────────┬──────┬─────────┬─────┬───────┬───────┐
/// │ unfinished   │ flags      │ band │ has de- │level│ flags │ phase │
/// │ dependencies │            │      │ pendency│     │       │       │
/// └──────────────┴────────────┴──────┴─────────┴─────┴───────┴───────┘
/// ```
///
/// ```
///         add                    chosen                  main returned
///  idle ─▶ claimed ─▶ enqueued ─────────────▶ executing ─▶ finished
///   │                   │ ▲  │                 ▲   ▲          ▲
///   │                   ▼ │  └──▶ dispatched ──┘   │          │ (cancelled: main is skipped)
///   │                 filing                       │          │
///   └──────────────────────────── start by hand ───┴──────────┘
/// ```
///
/// An operation whose class overrides `isReady` is also `waiting` or `ready`, by the answer of that. A cancelled
/// operation of whose end no one is notified goes from `enqueued` to `finished` when it is chosen.
///
/// `filing` means that the operation became ready, or that its place among the ready ones changes. The one thread whose
/// compare-exchange entered this phase will put the operation into its queue's ready list. Until then the operation
/// cannot be chosen, so that both it and its queue stay alive for that thread.
///
/// Orderings: every transition acquires and releases. The finishing transition publishes the writes of `main` to the
/// threads that decrement a dependent's count or read `isFinished`. The decrement that reaches zero hands all of them
/// on to the worker that chooses the dependent (contract E24).
struct OperationState: ~Copyable {
    enum Phase: UInt64 {
        /// In no queue, not started.
        case idle
        /// Claimed by the queue that adds it, which is not yet stored in the operation.
        case claimed
        /// In the queue, or about to be pushed into its inbox. The dependencies say whether it is ready.
        case enqueued
        /// In the queue, held back by its overridden `isReady`.
        case waiting
        /// It became ready or changed its priority. The thread that did this is putting it into the ready list.
        case filing
        /// In the queue, and its overridden `isReady` has said yes.
        case ready
        /// Chosen by a runner that has to do more than call `main`, or inside an overridden `start`.
        case dispatched
        case executing
        case finished
    }

    private let word: Atomic<UInt64>
    /// The `ObserverList`, retained. Nil until the first observer, or until the first dependency of an operation that
    /// overrides `isReady`. Set once. It is stored here for a finishing dependency, which reaches a dependent whose
    /// deinit may be about to run. The list's weak reference says whether it is: see `DependencyEdge`.
    let observerList = Atomic<UnsafeMutableRawPointer?>(nil)

    init() {
        var initial = Word(bits: 0)
        initial.level = .normal
        initial.band = .normal
        word = Atomic(initial.bits)
    }

    /// Marks the operation in its init, when no other thread knows it.
    @inline(__always)
    func setIsPlainBlock() {
        word.store(Word(bits: word.load(ordering: .relaxed)).setting(Word.isPlainBlock).bits, ordering: .relaxed)
    }

    @inline(__always)
    func load() -> Word { Word(bits: word.load(ordering: .acquiring)) }

    /// As `load`, for a thread that has pushed the operation into an inbox, or an edge of it onto a `SuccessorList`. A
    /// thread that changes the word reads that stack afterwards. Both are sequentially consistent, so one of the two
    /// sees the other.
    @inline(__always)
    func loadAfterPush() -> Word { Word(bits: word.load(ordering: .sequentiallyConsistent)) }

    /// Repeats `change` until it is applied to an unchanged word, or returns nil. Returns the word before and after.
    ///
    /// Acquiring also where nothing changes: a thread that finds the operation finished relies on the writes of `main`.
    /// Sequentially consistent for the finishing transition, which is followed by a load of the `SuccessorList`.
    @inline(__always)
    @discardableResult
    func update(_ change: (Word) -> Word?) -> (old: Word, new: Word)? {
        var bits = word.load(ordering: .acquiring)
        while true {
            guard let next = change(Word(bits: bits)) else { return nil }
            let (exchanged, original) = word.weakCompareExchange(
                expected: bits, desired: next.bits, successOrdering: .sequentiallyConsistent,
                failureOrdering: .acquiring)
            if exchanged { return (Word(bits: bits), next) }
            bits = original
        }
    }

    /// Sleeps until the operation is finished or the deadline has passed. Returns whether it is finished.
    func waitUntilFinished(_ deadline: Deadline) -> Bool {
        while true {
            guard let (_, current) = update({ $0.isFinished ? nil : $0.setting(Word.hasWaiters) }) else { return true }
            let remaining = deadline.remainingNanoseconds
            if remaining == 0 { return load().isFinished }
            Futex.waitOnLowHalf(of: word, expected: current.bits, timeoutNanoseconds: remaining)
        }
    }
}

// MARK: - Entering a queue

extension OperationState {
    /// idle → claimed: the operation belongs to one queue from here on (contract M6). Returns the misuse if that is
    /// impossible.
    @inline(__always)
    func claimForQueue() -> Misuse? {
        guard update({ $0.phase == .idle ? $0.entering(.claimed) : nil }) == nil else { return nil }
        return reasonAgainstClaim ?? .addInQueue
    }

    /// Why the operation cannot be claimed at this moment; nil if it can.
    var reasonAgainstClaim: Misuse? {
        switch load().phase {
        case .idle: nil
        case .finished: .addFinished
        case .executing: .addExecuting
        default: .addInQueue
        }
    }

    /// claimed → idle: the batch for which it was claimed is refused as a whole (contract M5).
    func releaseClaim() { update { $0.phase == .claimed ? $0.entering(.idle) : nil } }

    /// claimed → enqueued: the queue is stored in the operation. No other thread changes the phase of a claimed
    /// operation.
    ///
    /// - Returns: the new word. A thread that makes the operation ready after this finds it in a queue.
    @inline(__always)
    @discardableResult
    func publishQueue() -> Word {
        let step = Phase.enqueued.rawValue - Phase.claimed.rawValue
        return Word(bits: word.wrappingAdd(step, ordering: .releasing).newValue)
    }

    /// idle → enqueued in one plain store, for an operation that no other thread knows.
    @inline(__always)
    func enqueueUnknown() {
        word.store(Word(bits: word.load(ordering: .relaxed)).entering(.enqueued).bits, ordering: .relaxed)
    }

    /// As `enqueueUnknown`, for an operation that is known only under the queue's lock, which the caller holds, and that
    /// is in its list from then on.
    func enterReady(isCancelled: Bool = false) {
        enqueueUnknown()
        if isCancelled { update { $0.setting(Word.cancelled) } }
    }

    /// As `enterReady`, for a closure that is running.
    func enterExecuting() {
        word.store(Word(bits: word.load(ordering: .relaxed)).entering(.executing).bits, ordering: .relaxed)
    }

    enum Filing {
        case ready(Word)
        /// Or another thread is about to file it, or to withdraw it because it is finished.
        case waiting
        /// It announced its own end while it was being filed. The filing thread has to withdraw it.
        case ended
        /// The answer of `isReady` may be out of date. Ask again.
        case outdated
    }

    /// Decides in which list an operation from the inbox is, for `QueueState.admit`. Called under the queue's lock, which is held until the
    /// operation is in its list. Without an overridden `isReady` there is nothing to change: a thread that makes the
    /// operation ready after this look files it, behind the lock.
    @inline(__always)
    func admit() -> Filing {
        let word = load()
        if word.phase == .enqueued, word.isReadyUnasked { return .ready(word) }
        if word.has(Word.hasOwnReadiness) { update { $0.phase == .enqueued ? $0.entering(.waiting) : nil } }
        return .waiting
    }

    /// Called before an overridden `isReady` is asked, by the one thread that files the operation or has chosen it. An
    /// event from here on makes the answer out of date.
    func beginAsking() { update { Word(bits: $0.bits & ~Word.isAnswerOutdated) } }

    /// filing → enqueued or, with the answer of an overridden `isReady`, filing → ready or waiting. Called by the filing
    /// thread under the queue's lock. No other thread ends the phase `filing`, except by the operation's own
    /// announcement of its end.
    func finishFiling(_ answer: Bool?) -> Filing {
        var isOutdated = false
        let change = update { word in
            guard word.phase == .filing else { return nil }
            isOutdated = answer != nil && word.has(Word.isAnswerOutdated)
            return isOutdated ? nil : word.entering(answer.map { $0 ? .ready : .waiting } ?? .enqueued)
        }
        if isOutdated { return .outdated }
        guard let new = change?.new else { return .ended }
        return answer ?? new.isReady ? .ready(new) : .waiting
    }

    /// dispatched → waiting: an overridden `isReady` says no (contract F5, F7). Returns false if it has to be asked
    /// again. Called under the queue's lock.
    func unchoose() -> Bool {
        update { word in
            word.phase == .dispatched && !word.has(Word.isAnswerOutdated) ? word.entering(.waiting) : nil
        } != nil
    }

    /// ready → executing or dispatched, or from `enqueued` if it is ready. Nil if a dependency was added in the
    /// meantime, or if another thread is filing it again. Called under the queue's lock.
    @inline(__always)
    func dispatch() -> Word? { update { $0.isToBeDispatched ? $0.chosen : nil }?.new }

    /// From `filing` likewise, by the filing thread, which then need not file it. For an operation that is ready, not
    /// cancelled, and for the normal band. Otherwise nil, with no change. Called under the queue's lock.
    @inline(__always)
    func dispatchUnfiled() -> Word? {
        update { word in
            guard word.phase == .filing, word.isReadyUnasked, !word.isCancelled, word.band == .normal else {
                return nil
            }
            return word.chosen
        }?.new
    }
}

// MARK: - Starting and finishing

extension OperationState {
    enum Start {
        /// It executes now. Run `main`, then finish.
        case run
        /// It executes now on another thread than its runner's, where its overridden `start` has gone on.
        case runElsewhere
        /// No transition yet: it runs as a task, or its dependencies' endings have to be checked. Do that, then begin
        /// again.
        case takeCare(from: Phase)
        /// It executes now, as a task.
        case runAsTask
        /// It is cancelled, or a dependency did not succeed. Finish without `main`, with this flag or none.
        case leaveOut(flag: UInt64 = 0, from: Phase)
        case alreadyFinished
        case refused(Misuse)

        var isRun: Bool {
            switch self {
            case .run, .runElsewhere, .runAsTask: true
            default: false
            }
        }
    }

    /// The caller of the engine's own `start`.
    enum Starter {
        /// The runner that has chosen the operation for its queue.
        case runner
        /// Another thread. The class overrides `start`, which may have gone on there (contract B9).
        case ownStart
        /// Another thread.
        case hand
    }

    /// dispatched → executing by the runner that chose it, or by another thread where an overridden `start` has gone
    /// on. idle → executing by hand (contract B3–B9).
    ///
    /// - Parameters:
    ///   - ownReadiness: what an overridden `isReady` answers to a start by hand; nil if the dependencies decide. A
    ///     queue has asked before it calls `start`.
    ///   - isCareTaken: whether the caller has done what `startsWithCare` demands.
    func begin(by starter: Starter, ownReadiness: Bool?, isCareTaken: Bool = false) -> Start {
        var verdict = Start.run
        update { word in
            switch word.phase {
            case .finished: verdict = .alreadyFinished
            case .executing: verdict = .refused(.startExecuting)
            case .dispatched where word.isToBeStarted(by: starter), .idle where starter != .runner:
                if word.phase == .idle, !(ownReadiness ?? word.isReady) {
                    verdict = .refused(.startNotReady)
                } else if word.isCancelled {
                    verdict = .leaveOut(from: word.phase)
                } else if word.has(Word.startsWithCare), !isCareTaken {
                    verdict = .takeCare(from: word.phase)
                } else if starter != .runner, word.phase == .dispatched {
                    verdict = .runElsewhere
                    return word.entering(.executing).setting(Word.runsElsewhere)
                } else {
                    verdict = .run
                    return word.entering(.executing)
                }
            default: verdict = .refused(.startInQueue)
            }
            return nil
        }
        return verdict
    }

    /// executing → finished or, where `main` is skipped, dispatched → finished or idle → finished. The same step reads
    /// the flags for waiters and the completion block. Returns the word before, or nil if the phase is no longer the
    /// given one. Wakes the waiters.
    ///
    /// - Parameter flag: set in the same step; 0 for none.
    @inline(__always)
    func finish(from phase: Phase, setting flag: UInt64 = 0) -> Word? {
        guard let (old, _) = update({ $0.phase == phase ? $0.setting(flag).entering(.finished) : nil }) else {
            return nil
        }
        if old.has(Word.hasWaiters) { Futex.wakeAllOnLowHalf(of: word) }
        return old
    }

    /// ready → finished or enqueued → finished, for a cancelled operation that its queue has chosen and of whose end no
    /// one is notified. Returns false, with no change, if someone has to be notified or if it cannot be chosen. Called
    /// under the queue's lock.
    func finishUnnoticed() -> Bool {
        update { word in
            guard word.isToBeDispatched, word.isCancelled, !word.has(Word.endsNoticed) else { return nil }
            return word.entering(.finished)
        } != nil
    }

    /// As `finish(from:)`, from any phase, for an operation that announces its own end. Nil if it is finished already.
    /// This waits only while another thread adds it to a queue. That thread calls no user code meanwhile, and the queue
    /// then finds the operation there.
    func finishFromAnyPhase() -> Word? {
        while true {
            let phase = load().phase
            switch phase {
            case .finished: return nil
            case .claimed:
                ForkedChild.endIfOne()
                sched_yield()
            default: if let last = finish(from: phase) { return last }
            }
        }
    }

    /// Called by the runner that has chosen a guest, keeps it alive, and is about to start it. From here on the thread
    /// that finishes it takes it out of its queue. Returns false if it is finished already.
    func startGuest() -> Bool { update { $0.isFinished ? nil : $0.setting(Word.isStartedGuest) } != nil }
}

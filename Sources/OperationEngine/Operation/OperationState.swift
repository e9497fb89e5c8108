import Glibc
import Synchronization

/// An operation's state: one 64-bit word, changed only by the transitions below.
///
/// ```
/// 63             32 31           16 15  12 11  8 7     4 3     0
/// ┌────────────────┬───────────────┬──────┬─────┬───────┬───────┐
/// │ unfinished     │ flags         │ band │level│ flags │ phase │
/// │ dependencies   │               │      │     │       │       │
/// └────────────────┴───────────────┴──────┴─────┴───────┴───────┘
/// ```
///
/// ```
///         add                              chosen       start        main returned
///  idle ─▶ claimed ─▶ enqueued ─▶ ready ─▶ dispatched ─▶ executing ─▶ finished
///   │                    │  ▲     │  ▲                     ▲             ▲
///   │                    ▼  ▼     ▼  │                     │             │ (cancelled: main is left out)
///   │                waiting ─▶ filing                     │             │
///   └────────────────────────────── start by hand ─────────┴─────────────┘
/// ```
///
/// A cancelled one whose end nobody is to be told of goes from `ready` to `finished` when it is chosen.
///
/// `filing` says that the operation became ready, or that its place among the ready ones changes, and that the one
/// thread whose compare-exchange made it so will put it into its queue's ready list. Nobody can choose it before, so
/// both it and its queue stay alive for that thread.
///
/// Orderings: every transition is acquiring and releasing. The finishing one publishes main's writes to whoever
/// decrements a dependent's count or reads `isFinished`; the decrement that reaches zero hands all of them on to the
/// worker that chooses the dependent (contract E24).
struct OperationState: ~Copyable {
    enum Phase: UInt64 {
        /// In no queue, not started.
        case idle
        /// Promised to the queue that adds it, which is not yet written down in the operation.
        case claimed
        /// In the queue's inbox, or just about to be; or in the ready list, where it came from the inbox.
        case enqueued
        /// In the queue, held back by unfinished dependencies.
        case waiting
        /// Became ready or changed its priority; the thread that made it so is putting it into the ready list.
        case filing
        /// In the ready list, not straight from the inbox; or about to be taken out of it.
        case ready
        /// Chosen by a worker, which is about to call `start`, or in an overridden one.
        case dispatched
        case executing
        case finished
    }

    private let word: Atomic<UInt64>
    /// The `ObserverList`, retained; nil until the first observer, or the first dependency of an operation that overrides
    /// `isReady`. Set once. It stands here for the sake of a finishing dependency, which reaches a dependent that may be
    /// on its way to its deinit, and by the list's weak reference learns whether it is: see `DependencyEdge`.
    let observerList = Atomic<UnsafeMutableRawPointer?>(nil)

    init() {
        var initial = Word(bits: 0)
        initial.level = .normal
        initial.band = .normal
        word = Atomic(initial.bits)
    }

    @inline(__always)
    func load() -> Word { Word(bits: word.load(ordering: .acquiring)) }

    /// As `load`, for a thread that has pushed the operation onto a stack: into an inbox, or an edge onto its
    /// `SuccessorList`. Who changes the word looks at the stack afterwards; sequentially consistent, so one of the two
    /// sees the other.
    @inline(__always)
    func loadAfterPush() -> Word { Word(bits: word.load(ordering: .sequentiallyConsistent)) }

    /// Repeats `change` until it is applied to an unchanged word, or returns nil. The word before and after.
    /// Acquiring also where nothing changes: whoever finds the operation finished relies on main's writes. Sequentially
    /// consistent for the sake of the finishing transition, which is followed by a look at the `SuccessorList`.
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

    /// Sleeps until the operation is finished or the deadline passed; true if finished.
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
    /// idle → claimed: the operation belongs to one queue from here on (contract M6). Otherwise what is against that.
    func claimForQueue() -> Misuse? {
        guard update({ $0.phase == .idle ? $0.entering(.claimed) : nil }) == nil else { return nil }
        return reasonAgainstClaim ?? .addInQueue
    }

    /// What is against a claim at this moment.
    var reasonAgainstClaim: Misuse? {
        switch load().phase {
        case .idle: nil
        case .finished: .addFinished
        case .executing: .addExecuting
        default: .addInQueue
        }
    }

    /// claimed → idle: the batch that it was claimed for is refused as a whole (contract M5).
    func releaseClaim() { update { $0.phase == .claimed ? $0.entering(.idle) : nil } }

    /// claimed → enqueued: the queue is written down in the operation. Nobody else changes the phase of a claimed one.
    ///
    /// - Returns: the word from then on. Who makes an unready operation ready later finds it in a queue.
    @inline(__always)
    @discardableResult
    func publishQueue() -> Word {
        let step = Phase.enqueued.rawValue - Phase.claimed.rawValue
        return Word(bits: word.wrappingAdd(step, ordering: .releasing).newValue)
    }

    /// idle → enqueued, in one plain store: for an operation that nobody but the caller knows.
    @inline(__always)
    func enqueueUnknown() {
        word.store(Word(bits: word.load(ordering: .relaxed)).entering(.enqueued).bits, ordering: .relaxed)
    }

    /// idle → ready, in one plain store: for an operation that is known only where the caller holds the queue's lock.
    func enterReady(isCancelled: Bool = false) {
        let ready = Word(bits: word.load(ordering: .relaxed)).entering(.ready)
        word.store((isCancelled ? ready.setting(Word.cancelled) : ready).bits, ordering: .relaxed)
    }

    /// As `enterReady`, for a closure that runs already.
    func enterExecuting() {
        word.store(Word(bits: word.load(ordering: .relaxed)).entering(.executing).bits, ordering: .relaxed)
    }

    enum Filing {
        case ready(Word)
        case waiting
        /// Another thread is about to file it, or to withdraw it since it is finished.
        case leftToOther
        /// It has announced its end while it was being filed: the filer has to withdraw it.
        case ended
        /// The readiness may have changed since it was asked for: ask again.
        case outdated
    }

    /// What an operation from the inbox is: ready, in the phase `enqueued` still, or waiting from here on. Called under the
    /// queue's lock, which is held until the operation is in its list.
    @inline(__always)
    func fileFromInbox() -> Filing {
        let word = load()
        // No transition: whoever changes it later finds it in the inbox or in the ready list, which is one and the same.
        if word.phase == .enqueued, word.isReadyUnasked { return .ready(word) }
        return fileUnready()
    }

    @inline(never)
    private func fileUnready() -> Filing {
        guard
            let (_, new) = update({ $0.phase == .enqueued ? $0.entering($0.isReadyUnasked ? .ready : .waiting) : nil })
        else { return .leftToOther }
        return new.phase == .ready ? .ready(new) : .waiting
    }

    /// Before an overridden `isReady` is asked, by the one thread that files the operation or has chosen it: an event
    /// from here on makes the answer out of date.
    func beginAsking() { update { Word(bits: $0.bits & ~Word.isAnswerOutdated) } }

    /// filing → ready, or back to waiting if it is not ready after all. Called by the filing thread, under the queue's
    /// lock; with the answer of the overridden `isReady` if the operation has its own readiness. Nobody else leaves the
    /// phase `filing`, but for the operation's own announcement of its end.
    func finishFiling(_ answer: Bool?) -> Filing {
        var isOutdated = false
        let change = update { word in
            guard word.phase == .filing else { return nil }
            isOutdated = answer != nil && word.has(Word.isAnswerOutdated)
            return isOutdated ? nil : word.entering(answer ?? word.isReady ? .ready : .waiting)
        }
        if isOutdated { return .outdated }
        guard let new = change?.new else { return .ended }
        return new.phase == .ready ? .ready(new) : .waiting
    }

    /// dispatched → waiting: an overridden `isReady` says no (contract F5, F7). False if it has to be asked again.
    /// Called under the queue's lock.
    func unchoose() -> Bool {
        update { word in
            word.phase == .dispatched && !word.has(Word.isAnswerOutdated) ? word.entering(.waiting) : nil
        } != nil
    }

    /// filing → enqueued: the filer came before the adding thread has pushed the operation into the inbox. False if the
    /// operation has ended instead.
    func postponeFiling() -> Bool { update { $0.phase == .filing ? $0.entering(.enqueued) : nil } != nil }

    /// ready → dispatched, or enqueued → dispatched if it is ready. Nil if a dependency was added since, or another thread
    /// is re-filing it. Called under the queue's lock.
    @inline(__always)
    func dispatch() -> Word? { update { $0.isToBeDispatched ? $0.entering(.dispatched) : nil }?.new }

    /// filing → dispatched, by the filer, instead of filing it: for one that is ready, not cancelled, and for the normal
    /// band. Nil, with no change, if it is none. Called under the queue's lock.
    @inline(__always)
    func dispatchUnfiled() -> Word? {
        update { word in
            guard word.phase == .filing, word.isReadyUnasked, !word.isCancelled, word.band == .normal else {
                return nil
            }
            return word.entering(.dispatched)
        }?.new
    }

    /// enqueued → waiting: it was found in the ready list, and is not ready any more. Called under the queue's lock.
    func waitAgain() { update { $0.phase == .enqueued ? $0.entering(.waiting) : nil } }
}

// MARK: - Starting and finishing

extension OperationState {
    enum Start {
        /// It is executing now: run main, then finish.
        case run
        /// It is executing now, on another thread than its runner's, where its own `start` has gone on.
        case runElsewhere
        /// Cancelled: finish without main.
        case skip(from: Phase)
        /// No transition yet: it runs as a task, or its dependencies are to be looked at. Then begin again.
        case takeCare(from: Phase)
        /// It is executing now, as a task.
        case runAsTask
        /// A dependency did not succeed: finish without main, with this flag.
        case leaveOut(flag: UInt64, from: Phase)
        case alreadyFinished
        case refused(Misuse)

        var isRun: Bool {
            switch self {
            case .run, .runElsewhere, .runAsTask: true
            default: false
            }
        }
    }

    /// Who calls the engine's own `start`.
    enum Starter {
        /// The runner that has chosen the operation for its queue.
        case runner
        /// Another thread, and the class overrides `start`, which may have gone on there (contract B9).
        case ownStart
        /// Another thread.
        case hand
    }

    /// dispatched → executing by the runner that chose it, or by another thread where an overridden `start` has gone on;
    /// idle → executing by hand (contract B3–B9).
    ///
    /// - Parameters:
    ///   - ownReadiness: what an overridden `isReady` says to a start by hand; nil if the dependencies decide. A queue has
    ///     asked before it calls `start`.
    ///   - isCareTaken: whether the caller has seen to what `startsWithCare` stands for.
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
                    verdict = .skip(from: word.phase)
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

    /// executing → finished or, where main is left out, dispatched or idle → finished, in one step that also sees the
    /// waiters and the completion block. Returns the word before, or nil if the phase is no
    /// longer the given one. Wakes the waiters.
    ///
    /// - Parameter flag: set in the same step; none if 0.
    @inline(__always)
    func finish(from phase: Phase, setting flag: UInt64 = 0) -> Word? {
        guard let (old, _) = update({ $0.phase == phase ? $0.setting(flag).entering(.finished) : nil }) else {
            return nil
        }
        if old.has(Word.hasWaiters) { Futex.wakeAllOnLowHalf(of: word) }
        return old
    }

    /// ready → finished, or enqueued → finished, for a cancelled one that its queue has chosen, and whose end nobody waits
    /// for or is to be told of. False, with no change, if there is somebody, or if it is not to be chosen. Called under
    /// the queue's lock.
    func finishUnnoticed() -> Bool {
        update { word in
            guard word.isToBeDispatched, word.isCancelled, !word.has(Word.endsNoticed) else { return nil }
            return word.entering(.finished)
        } != nil
    }

    /// As `finish(from:)`, from whatever phase, for an operation that announces its end itself. Nil if it was finished
    /// already. Waits only while another thread hands it to a queue, which then is sure to find it there, and calls
    /// nothing of the user's meanwhile.
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

    /// The runner that has chosen a guest, and keeps it alive, is about to start it: from here on who finishes it takes it
    /// out of its queue. False if it is finished already.
    func keep() -> Bool { update { $0.isFinished ? nil : $0.setting(Word.isKept) } != nil }
}

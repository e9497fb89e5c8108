import Synchronization

/// How dependencies, a cancellation and priorities change an operation's state, and the flags that are set beside.
extension OperationState {
    /// What the caller of a transition has to do.
    enum Consequence {
        case none
        /// The caller must file the operation with its queue.
        case file
    }

    /// Counts one more unfinished dependency. Nil, with no change, once the operation has begun (contract E19).
    func addDependency() -> ReadinessChange? {
        let transition = update { word in
            guard word.phase.rawValue < Phase.dispatched.rawValue else { return nil }
            var next = Word(bits: word.bits + Word.oneDependency)
            // A cancelled one stays ready whatever it depends on.
            if word.phase == .ready, !next.isReady, !word.has(Word.hasOwnReadiness) { next.phase = .waiting }
            return next.outdatingAnswer()
        }
        return transition.map {
            ReadinessChange(consequence: .none, hasChanged: $0.old.isReady != $0.new.isReady, isLast: false)
        }
    }

    /// Changes nothing. What the calling thread has seen, such as the writes of a dependency that it found finished,
    /// goes on to the thread that starts the operation if that chooses it later (contract E24).
    func passOn() { update { $0 } }

    /// Counts one unfinished dependency less: it finished or was removed.
    func dropDependency() -> ReadinessChange {
        let transition = update { $0.droppingDependency() }
        return ReadinessChange(
            consequence: consequence(of: transition),
            hasChanged: transition.map { $0.old.isReady != $0.new.isReady } ?? false,
            isLast: transition?.new.unfinishedDependencies == 0)
    }

    /// As `dropDependency`, unless somebody is to be told: then nil, with no change, and there is an `ObserverList`. The flags
    /// are looked at in the same step, so that an observation that begins now either is told or finds the new value
    /// (contract D18).
    func dropDependencyUnlessTold() -> Consequence? {
        update { $0.isToldOfDependency ? nil : $0.droppingDependency() }.map { consequence(of: $0) }
    }

    /// What one dependency more or less means.
    struct ReadinessChange {
        var consequence: Consequence
        /// Whether `isReady` is different now, by the engine's own rules.
        var hasChanged: Bool
        /// Whether no unfinished dependency is left.
        var isLast: Bool
    }

    /// Sets the flag unless finished (contract J1, J2, J14).
    ///
    /// - Parameter finishesWithoutSlot: whether it then goes before all others (J9), so that one among the ready ones
    ///   has to be re-filed.
    ///
    /// - Returns: also the word before; nil if nothing has changed.
    func cancel(finishesWithoutSlot: Bool) -> (consequence: Consequence, old: Word?) {
        let transition = update { word in
            guard !word.isFinished, !word.isCancelled else { return nil }
            let next = word.setting(Word.cancelled).outdatingAnswer()
            let isToBeFiled =
                word.phase == .waiting || finishesWithoutSlot && word.isInReadyList
                || word.becomesReadyInInbox(as: next)
            return isToBeFiled ? next.entering(.filing) : next
        }
        return (consequence(of: transition), transition?.old)
    }

    /// As `cancel`, in one step with its way to the ready list, for an operation that stands in a list of the queue whose
    /// lock the caller holds, has no observers, and finishes without a slot. Nil, with no change, if it is to be
    /// cancelled in the usual way: it has begun, or another thread is about to file it.
    func cancelListed() -> Word? {
        update { word in
            let isListed = word.phase == .waiting || word.isInReadyList
            guard isListed, !word.isCancelled, !word.has(Word.hasObservers | Word.hasOwnReadiness) else { return nil }
            return word.setting(Word.cancelled).outdatingAnswer().entering(.ready)
        }?.new
    }

    /// Sets the priority; one that waits among the ready ones is re-filed at its new level's back (contract G10, G11).
    func setLevel(_ level: PriorityLevel) -> Consequence {
        change { word in
            guard word.level != level else { return nil }
            var next = word
            next.level = level
            return word.isInReadyList ? next.entering(.filing) : next
        }
    }

    /// Sets the band of worker threads; one that waits among the ready ones is re-filed.
    func setBand(_ band: NiceBand) -> Consequence {
        change { word in
            guard word.band != band else { return nil }
            var next = word
            next.band = band
            return word.isInReadyList ? next.entering(.filing) : next
        }
    }

    /// An overridden `isReady` may answer differently from now on: a waiting operation is filed anew.
    func announceReadiness() -> Consequence {
        change { word in
            let next = word.outdatingAnswer()
            return word.phase == .waiting ? next.entering(.filing) : next
        }
    }

    // MARK: Observers

    /// Whether there are, or were, observers.
    @inline(__always)
    var isObserved: Bool { load().has(Word.hasObservers) }

    /// The observers, if there ever were any. One load otherwise (contract D21).
    @inline(__always)
    var observers: ObserverList<Operation>? { isObserved ? existingObservers : nil }

    /// The list, whether or not anybody is in it.
    @inline(never)
    var existingObservers: ObserverList<Operation>? {
        // Acquiring: pairs with the exchange that set it.
        observerList.load(ordering: .acquiring).map {
            Unmanaged<ObserverList<Operation>>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// The observer list, made by `make` if there is none.
    func observers(orMake make: () -> ObserverList<Operation>) -> ObserverList<Operation> {
        if let existingObservers { return existingObservers }
        let new = Unmanaged.passRetained(make())
        let (exchanged, existing) = observerList.compareExchange(
            expected: nil, desired: new.toOpaque(), ordering: .acquiringAndReleasing)
        if exchanged { return new.takeUnretainedValue() }
        new.release()
        return Unmanaged.fromOpaque(existing.unsafelyUnwrapped).takeUnretainedValue()
    }

    /// In the operation's deinit, after its edges are unlinked.
    func releaseObservers() {
        if let list = observerList.load(ordering: .acquiring) {
            Unmanaged<ObserverList<Operation>>.fromOpaque(list).release()
        }
    }

    // MARK: Flags

    /// Says, for good, that the operation has observers.
    func setHasObservers() { update { $0.setting(Word.hasObservers) } }

    /// Says, in its init, that the operation runs as a task.
    func setRunsAsTask() { update { $0.setting(Word.runsAsTask | Word.isGuest) } }

    /// Says, in its init, that the operation carries a barrier's block.
    func setIsBarrier() { update { $0.setting(Word.isBarrier) } }

    /// Says that tasks await the end. False if there is nothing to await any more.
    func announceAwaiters() -> Bool { update { $0.isFinished ? nil : $0.setting(Word.hasAwaiters) } != nil }

    /// Says that the operation failed. False if it had failed before, or is finished.
    func setHasFailed() -> Bool {
        update { $0.isFinished || $0.has(Word.hasFailed) ? nil : $0.setting(Word.hasFailed) } != nil
    }

    /// Sets what becomes of the operation if a dependency does not succeed.
    func setPolicy(_ policy: DependencyFailurePolicy) {
        update { Word(bits: $0.bits & ~Word.policyMask | UInt64(policy.rawValue) << Word.policyShift) }
    }

    /// Says that somebody else is going to look at the blocks, or to add one. False once finished: there are none.
    func shareBlocks() -> Bool { update { $0.isFinished ? nil : $0.setting(Word.sharesBlocks) } != nil }

    func setCountsCancelled(_ counts: Bool) {
        update { Word(bits: counts ? $0.bits | Word.countsCancelled : $0.bits & ~Word.countsCancelled) }
    }

    /// Says, while it is claimed, that the operation is a guest of its queue, and perhaps why.
    func setGuest(_ reason: UInt64 = 0) { update { $0.setting(Word.isGuest | reason) } }

    /// Says that the operation has its own readiness: while it is idle and has an `ObserverList`.
    func setOwnReadiness() { update { $0.setting(Word.hasOwnReadiness) } }

    /// Before a start by hand asks an overridden `isReady`. False if one asks already: a start inside that `isReady`, or on
    /// another thread.
    func beginStartsQuestion() -> Bool {
        update { $0.has(Word.isAskedByStart) ? nil : $0.setting(Word.isAskedByStart) } != nil
    }
    func endStartsQuestion() { update { Word(bits: $0.bits & ~Word.isAskedByStart) } }

    /// A transition that may make the caller the one that files the operation.
    private func change(_ change: (Word) -> Word?) -> Consequence { consequence(of: update(change)) }

    private func consequence(of transition: (old: Word, new: Word)?) -> Consequence {
        guard let (old, new) = transition else { return .none }
        return old.phase != .filing && new.phase == .filing ? .file : .none
    }

    /// Says whether a completion block is set. Returns the phase in which it was set.
    func setHasCompletion(_ isSet: Bool) -> Phase {
        update { word in
            guard !word.isFinished else { return nil }
            return Word(bits: isSet ? word.bits | Word.hasCompletion : word.bits & ~Word.hasCompletion)
        }?.old.phase ?? .finished
    }
}

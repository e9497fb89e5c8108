import Synchronization

/// How dependencies, cancellation and priorities change an operation's state, and the flags that are set without a
/// change of phase.
extension OperationState {
    /// The task of a transition's caller.
    enum Consequence {
        case none
        /// The caller must file the operation with its queue.
        case file
    }

    /// Counts one more unfinished dependency. Returns the word before; nil, with no change, once the operation has begun
    /// (contract E19).
    @inline(__always)
    func addDependency() -> Word? {
        update { word in
            guard word.phase.rawValue < Phase.dispatched.rawValue else { return nil }
            return Word(bits: word.bits &+ Word.oneDependency).setting(Word.hasDependencies).outdatingAnswer()
        }?.old
    }

    /// Marks an operation whose first dependencies are those of a node in a `DependencyGraph`, and counts these as one.
    /// Returns false, with no change, if it has, or had, dependencies or observers, or was added to a queue.
    func joinGraph(isHeld: Bool) -> Bool {
        update { word in
            let hindrances = Word.hasDependencies | Word.hasObservers | Word.hasOwnReadiness
            guard word.phase == .idle, !word.has(hindrances) else { return nil }
            let next = word.setting(Word.hasDependencies)
            // If nothing holds it back, no thread will count it down.
            return isHeld ? Word(bits: next.bits &+ Word.oneDependency) : next.setting(Word.isReleased)
        } != nil
    }

    /// Changes at most a flag, but passes on what the calling thread has seen or done, such as the writes of a dependency
    /// that it found finished. A thread that changes the word later, as by starting the operation, sees these too
    /// (contract E24). Returns the word before.
    @discardableResult
    func passOn(setting flag: UInt64 = 0) -> Word { update { $0.setting(flag) }.unsafelyUnwrapped.old }

    /// Counts one unfinished dependency less, because it finished or was removed.
    func dropDependency() -> ReadinessChange {
        let transition = update { $0.droppingDependency() }
        return ReadinessChange(
            consequence: consequence(of: transition),
            hasChanged: transition.map { $0.old.isReady != $0.new.isReady } ?? false,
            isLast: transition?.new.unfinishedDependencies == 0)
    }

    /// As `dropDependency`, unless someone is to be notified. Then it returns nil, with no change, and there is an
    /// `ObserverList`. The same step reads the flags, so an observation that begins at this moment either is notified
    /// or finds the new value (contract D18).
    ///
    /// - Parameter flag: set in the same step; 0 for none.
    @inline(__always)
    func dropDependencyUnlessTold(setting flag: UInt64) -> Consequence? {
        update { $0.isToldOfDependency ? nil : $0.droppingDependency().setting(flag) }.map { consequence(of: $0) }
    }

    /// The effect of one dependency more or less.
    struct ReadinessChange {
        var consequence: Consequence
        /// Whether `isReady` has changed, by the engine's own rules.
        var hasChanged: Bool
        /// Whether no unfinished dependency is left.
        var isLast: Bool
    }

    /// Sets the flag unless the operation is finished (contract J1, J2, J14).
    ///
    /// - Parameter finishesWithoutSlot: whether the operation then goes before all others (J9). If so, and it is in the
    ///   ready list, it has to be filed again.
    /// - Returns: also the word before; nil if nothing has changed.
    func cancel(finishesWithoutSlot: Bool) -> (consequence: Consequence, old: Word?) {
        let transition = update { word in
            guard !word.isFinished, !word.isCancelled else { return nil }
            let next = word.setting(Word.cancelled).outdatingAnswer()
            let becomesReady = word.phase == .enqueued && !word.isReady && next.isReadyUnasked
            let isToBeFiled =
                word.phase == .waiting || finishesWithoutSlot && word.isToBeDispatched || becomesReady
            return isToBeFiled ? next.entering(.filing) : next
        }
        return (consequence(of: transition), transition?.old)
    }

    /// As `cancel`, with no need to file the operation. For one that is in a list of the queue whose lock the caller
    /// holds, that has no observers, and that finishes without a slot. Nil, with no change, if it has to be cancelled in
    /// the usual way: it has begun, or another thread is about to file it.
    func cancelListed() -> Word? {
        update { word in
            guard word.phase == .enqueued, !word.isCancelled, !word.has(Word.hasObservers | Word.hasOwnReadiness) else {
                return nil
            }
            return word.setting(Word.cancelled).outdatingAnswer()
        }?.new
    }

    /// Sets the priority. An operation in the ready list is filed again, at the back of its new level (contract G10,
    /// G11).
    func setLevel(_ level: PriorityLevel) -> Consequence {
        change { word in
            guard word.level != level else { return nil }
            var next = word
            next.level = level
            return word.isToBeDispatched ? next.entering(.filing) : next
        }
    }

    /// Sets the band of worker threads. An operation in the ready list is filed again.
    func setBand(_ band: NiceBand) -> Consequence {
        change { word in
            guard word.band != band else { return nil }
            var next = word
            next.band = band
            return word.isToBeDispatched ? next.entering(.filing) : next
        }
    }

    /// From now on an overridden `isReady` may answer differently. A waiting operation is filed again.
    func announceReadiness() -> Consequence {
        change { word in
            let next = word.outdatingAnswer()
            return word.phase == .waiting ? next.entering(.filing) : next
        }
    }

    // MARK: Flags

    /// Whether there are, or were, observers.
    @inline(__always)
    var isObserved: Bool { load().has(Word.hasObservers) }

    /// Marks the operation, for good, as one that has observers.
    func setHasObservers() { update { $0.setting(Word.hasObservers) } }

    /// Marks the operation, in its init, as one that runs as a task.
    func setRunsAsTask() { update { $0.setting(Word.runsAsTask | Word.isGuest) } }

    /// Marks the operation, in its init, as one that carries a barrier's block.
    func setIsBarrier() { update { $0.setting(Word.isBarrier) } }

    /// Notes that tasks await the end. Returns false if the operation is finished.
    func announceAwaiters() -> Bool { update { $0.isFinished ? nil : $0.setting(Word.hasAwaiters) } != nil }

    /// Notes that the operation failed. Returns false if it had failed before, or is finished.
    func setHasFailed() -> Bool {
        update { $0.isFinished || $0.has(Word.hasFailed) ? nil : $0.setting(Word.hasFailed) } != nil
    }

    /// Sets what happens to the operation if a dependency does not succeed.
    func setPolicy(_ policy: DependencyFailurePolicy) {
        update { Word(bits: $0.bits & ~Word.policyMask | UInt64(policy.rawValue) << Word.policyShift) }
    }

    /// Notes that a thread other than the running one is going to read the blocks, or to add one. Returns false once
    /// the operation is finished: then there are no blocks.
    func shareBlocks() -> Bool { update { $0.isFinished ? nil : $0.setting(Word.sharesBlocks) } != nil }

    func setCountsCancelled(_ counts: Bool) {
        update { Word(bits: counts ? $0.bits | Word.countsCancelled : $0.bits & ~Word.countsCancelled) }
    }

    /// Marks the operation, while it is claimed, as a guest of its queue, with a reason if there is one.
    func setGuest(_ reason: UInt64) { update { $0.setting(Word.isGuest | reason) } }

    /// Notes that the class overrides `isFinished`, for a start by hand.
    func setOwnEnd() { update { $0.has(Word.hasOwnEnd) ? nil : $0.setting(Word.hasOwnEnd) } }

    /// Notes that the `main` of an operation with `hasOwnEnd` has returned. Returns false if the operation is finished.
    func beginEnding() -> Bool {
        update { $0.phase == .executing ? $0.setting(Word.isEnding) : nil } != nil
    }

    /// Returns false, with no change, if the operation is finished or the end is watched already.
    func beginWatchingEnd() -> Bool {
        update { $0.isFinished || $0.has(Word.isEndWatched) ? nil : $0.setting(Word.isEndWatched) } != nil
    }
    func endWatchingEnd() { update { Word(bits: $0.bits & ~Word.isEndWatched) } }

    /// Notes that the class overrides `isReady`. Called while the operation is idle and has an `ObserverList`.
    func setOwnReadiness() { update { $0.setting(Word.hasOwnReadiness) } }

    /// Called before a start by hand asks an overridden `isReady`. Returns false if another start is asking: one inside
    /// that `isReady`, or on another thread.
    func beginStartsQuestion() -> Bool {
        update { $0.has(Word.isAskedByStart) ? nil : $0.setting(Word.isAskedByStart) } != nil
    }
    func endStartsQuestion() { update { Word(bits: $0.bits & ~Word.isAskedByStart) } }

    /// A transition after which the caller may have to file the operation.
    private func change(_ change: (Word) -> Word?) -> Consequence { consequence(of: update(change)) }

    /// No transition here enters another phase than `filing`.
    @inline(__always)
    private func consequence(of transition: (old: Word, new: Word)?) -> Consequence {
        guard let (old, new) = transition else { return .none }
        return old.phase == new.phase ? .none : .file
    }

    /// Notes whether a completion block is set. Returns the phase in which this was noted.
    func setHasCompletion(_ isSet: Bool) -> Phase {
        update { word in
            guard !word.isFinished else { return nil }
            return Word(bits: isSet ? word.bits | Word.hasCompletion : word.bits & ~Word.hasCompletion)
        }?.old.phase ?? .finished
    }
}

import Glibc

/// What the holder of a lease does with the queue, and how operations leave it.
extension QueueCore {
    /// Frees a finished operation's slot, files what it has made ready, and chooses the next one if `mayGoOn`.
    func advance(_ runner: Runner, retiring finished: Unmanaged<Operation>?, mayGoOn: Bool) -> Unmanaged<Operation>? {
        lock.lock(inTurns: &runner.lockTurns)
        var next: Unmanaged<Operation>?
        let takesSlotAgain = finished != nil && mayGoOn
        if let finished {
            retire(finished, of: runner)
            if takesSlotAgain, !runner.hasReadied { next = chooseAheadOfInbox(for: runner) }
        }
        if next == nil {
            // What was added before they became ready goes before them (contract G6).
            takeIn()
            if runner.hasReadied {
                if takesSlotAgain { next = runner.takeOnlyReadied { state.chooseReadied($0, for: runner) } }
                if next == nil { return fileAndAdvance(runner, mayGoOn: mayGoOn) }
            } else if takesSlotAgain {
                next = state.chooseNext(for: runner)
            }
            if next == nil { return chooseAndUnlock(for: runner, mayGoOn: mayGoOn) }
        }
        lock.unlock()
        return next
    }

    @inline(__always)
    private func retire(_ finished: Unmanaged<Operation>, of runner: Runner) {
        finished._withUnsafeGuaranteedRef {
            state.retire($0)
            runner.countsOutLater = !$0.isBarrier && !hasObservers
        }
        if runner.countsOutLater { retired.store(retired.load(ordering: .relaxed) + 1, ordering: .releasing) }
    }

    /// The next ready operation, if none that may be in the inbox goes before it.
    @inline(__always)
    private func chooseAheadOfInbox(for runner: Runner) -> Unmanaged<Operation>? {
        mayHoldUrgent ? nil : state.chooseNext(for: runner, from: .normal)
    }

    /// Under the lock, which it releases.
    @inline(never)
    private func fileAndAdvance(_ runner: Runner, mayGoOn: Bool) -> Unmanaged<Operation>? {
        let ended = runner.takeReadied { fileLocked($0) }
        if ended.isEmpty { return chooseAndUnlock(for: runner, mayGoOn: mayGoOn) }
        settleAndUnlock()
        for operation in ended { withdraw(operation.takeUnretainedValue()) }
        return advance(runner, retiring: nil, mayGoOn: mayGoOn)
    }

    /// A runner's closure has ended: frees its slot, and chooses what comes next if `mayGoOn`.
    @inline(__always)
    func advanceFromClosure(_ runner: Runner, mayGoOn: Bool) -> Unmanaged<Operation>? {
        lock.lock(inTurns: &runner.lockTurns)
        countOutClosures(1)
        state.endClosure()
        if hasObservers { return tellAndAdvance(runner, mayGoOn: mayGoOn) }
        if mayGoOn {
            var next = chooseAheadOfInbox(for: runner)
            if next == nil {
                takeIn()
                next = state.chooseNext(for: runner)
            }
            if let next {
                lock.unlock()
                return next
            }
        }
        return chooseAndUnlock(for: runner, mayGoOn: mayGoOn)
    }

    /// Under the lock, which it releases: an observer came just before the closure was counted out. Nothing is chosen
    /// before it is told, since it may wait for the queue, which is retained for it.
    @inline(never)
    private func tellAndAdvance(_ runner: Runner, mayGoOn: Bool) -> Unmanaged<Operation>? {
        let queue = owner?.retain()
        _ = chooseAndUnlock(for: runner, mayGoOn: false)
        runner.countOutOwed(by: self)
        settleIfObserved()
        queue?.release()
        return mayGoOn ? advance(runner, retiring: nil, mayGoOn: true) : nil
    }

    @inline(__always)
    private func chooseAndUnlock(for runner: Runner, mayGoOn: Bool) -> Unmanaged<Operation>? {
        let (chosen, bands) = settle(choosingFor: mayGoOn ? runner : nil)
        if !state.dropped.isEmpty { return letGoAndChoose(for: runner, calling: bands) }
        return unlock(for: runner, chosen, calling: bands)
    }

    /// The end of a look for what to do.
    @inline(__always)
    private func unlock(
        for runner: Runner, _ chosen: Unmanaged<Operation>?, calling bands: BandSet
    ) -> Unmanaged<Operation>? {
        var haveClosuresEnded = false
        if chosen == nil {
            if runner.isInList { state.closureRunners.remove(runner) }
            haveClosuresEnded = entrance.mayBeCounted && endClosures()
        }
        lock.unlock()
        for band in bands { signal(band) }
        if haveClosuresEnded { countOut(Self.anyClosures) }
        return chosen
    }

    /// Under the lock, which it releases: nothing was chosen, since what was dropped is to be let go of first.
    @inline(never)
    private func letGoAndChoose(for runner: Runner, calling bands: BandSet) -> Unmanaged<Operation>? {
        var bands = bands
        while true {
            letGo(for: runner, calling: bands)
            if hasObservers { return tellAndAdvance(runner, mayGoOn: runner.mayGoOn(with: self)) }
            let next = settle(choosingFor: runner.mayGoOn(with: self) ? runner : nil)
            if state.dropped.isEmpty { return unlock(for: runner, next.chosen, calling: next.bandsToCall) }
            bands = next.bandsToCall
        }
    }

    /// Under the lock, and again when it returns: lets go of what was dropped, without the lock. That may run code of the
    /// user, which finds all of it finished, and others at work on what is left.
    private func letGo(for runner: Runner, calling bands: BandSet) {
        let dropped = state.takeDropped()
        retired.store(retired.load(ordering: .relaxed) + dropped.operationCount, ordering: .releasing)
        state.endingSteps += 1
        lock.unlock()
        for band in bands { signal(band) }
        endExecution(of: dropped)
        dropped.operations.visitLinks { $0.release() }
        runner.owe(dropped.operationCount)
        runner.endPresumption()
        lock.lock()
    }

    /// What was dropped lets go of what it was to be executed with, and of those that depend on it: the last operation
    /// first, whose dependents any of them may wait for.
    private func endExecution(of dropped: DroppedOperations) {
        if dropped.lastHasSuccessors {
            dropped.operations.last?._withUnsafeGuaranteedRef {
                $0.executionEnded($0.state.load())
                $0.releaseSuccessors(own: nil)
            }
        }
        dropped.operations.visitLinks { link in
            link._withUnsafeGuaranteedRef { $0.executionEnded($0.state.load()) }
        }
        var closureCount = 0
        dropped.runs.visitLinks { link in
            link._withUnsafeGuaranteedRef { closureCount += unsafeDowncast($0, to: ClosureRun.self).remaining }
            link.release()
        }
        change {
            $0.endingSteps -= 1
            countOutClosures(closureCount)
        }
    }

    /// Files in one step what a runner has kept.
    func fileReadied(of runner: Runner) {
        lock.lock()
        let ended = runner.takeReadied { fileLocked($0) }
        settleAndUnlock()
        for operation in ended { withdraw(operation.takeUnretainedValue()) }
    }

    // MARK: Back into the queue

    /// Takes back an operation that a worker has chosen and whose overridden `isReady` says no. False if it has to be
    /// asked again.
    func takeBack(_ operation: Operation) -> Bool {
        lock.withLock { state.takeBack(operation) }
    }

    /// Puts an operation that was chosen, and not started, back to the front of the ready ones. False if it is finished.
    func putBack(_ operation: Operation) -> Bool { change { $0.putBack(operation) } }

    // MARK: Leaving

    /// An operation has finished by its own account: frees its slot, if it had one, and lets it leave. Called by the
    /// one thread whose transition finished it, or that was filing it then.
    func withdraw(_ operation: Operation) {
        lock.lock()
        inbox.takeAll { state.admit($0) }
        while operation.place.kind == .none {
            // The adding thread has made the operation known, and is about to push it into the inbox.
            lock.unlock()
            ForkedChild.endIfOne()
            sched_yield()
            lock.lock()
            inbox.takeAll { state.admit($0) }
        }
        state.retire(operation)
        settleAndUnlock()
        leave(.passUnretained(operation))
    }

    /// Counts out operations that a runner has retired and released.
    func countOutRetired(_ count: Int) {
        // In this order the sum in `operationCount` is never too low.
        countedOut.wrappingAdd(count, ordering: .sequentiallyConsistent)
        countOut(count)
    }

    /// As `countOutRetired`, by a runner that has nothing left to do: an observer that came meanwhile may have found the
    /// count too high in between, and nobody else may come to tell it.
    func countOutLastRetired(_ count: Int) {
        // Retained until the observers have been told.
        let queue = hasObservers ? owner?.retain() : nil
        countOutRetired(count)
        settleIfObserved()
        queue?.release()
    }

    /// An operation has left the queue: releases it and counts it out. Without the lock, since its deinit may run.
    func leave(_ operation: Unmanaged<Operation>) {
        let isBarrier = operation._withUnsafeGuaranteedRef { $0.isBarrier }
        operation.release()
        if isBarrier { return countOut(Self.oneBarrier) }
        // Retained until the observers have been told: this may be the last operation of a queue that was dropped.
        let queue = hasObservers ? owner?.retain() : nil
        announcing([.operations, .operationCount]) { countOut(1) }
        queue?.release()
    }

    // MARK: Waiting inside

    /// An operation that holds a slot begins (+1) or ends (−1) an engine wait.
    func countWaitingInside(_ change: Int) { self.change { $0.waitingInside += change } }

    /// Whether `other` cannot start before `holder` has ended, which has begun in this queue: it waits in this queue
    /// too, and `holder` has the only slot.
    func isOnlySlot(of holder: Operation, neededBy other: Operation) -> Bool {
        guard isKept(other) else { return false }
        return lock.withLock {
            state.limit == 1 && holder.place.kind == .executing && holder.place.level != .slotless && isKept(other)
        }
    }

    /// Whether an operation is in this queue, not begun and not cancelled.
    private func isKept(_ operation: Operation) -> Bool {
        let word = operation.state.load()
        // From enqueued on the operation's queue is written down for good.
        return word.phase.rawValue >= OperationState.Phase.enqueued.rawValue && operation.isPending
            && operation.queue?.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
    }
}

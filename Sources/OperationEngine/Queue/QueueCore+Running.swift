/// What the holder of a lease does with the queue, and how operations leave it.
extension QueueCore {
    /// Gives the queue what a runner's last piece of work has left, and the runner the next one if `mayGoOn`. False if there
    /// is nothing: then the runner is on the queue's list no more, and all that it ran is counted out.
    @inline(__always)
    func advance(_ runner: Runner, mayGoOn: Bool) -> Bool {
        lock.lock(inTurns: &runner.lockTurns)
        let taken = takeSlot(of: runner)
        if taken == .unnoticed, mayGoOn {
            // The slot is taken again: the queue stays as open as it was, unless it reaches the next segment.
            let choice = chooseAgain(for: runner)
            if choice.takesSlot, state.isPlain {
                assert(hasNotedOpenness, "the queue has opened or closed, and nobody is told")
                give(choice, to: runner)
                lock.unlock()
                return true
            }
            return settle(runner, with: choice, mayGoOn: true, tellsObservers: false)
        }
        let tellsObservers = taken == .observed || runner.owesTelling
        runner.owesTelling = false
        return settle(runner, with: .nothing, mayGoOn: mayGoOn, tellsObservers: tellsObservers)
    }

    /// What is next, in the usual case. Under the lock.
    @inline(__always)
    private func chooseAgain(for runner: Runner) -> Choice {
        if runner.hasReadied { return chooseReadied(of: runner) }
        // What is ready goes before what is in the inbox.
        let choice =
            mayHoldUrgent ? .nothing : state.chooseNormal(for: runner.lease, closureTo: runner.heldClosure)
        return choice.isNothing ? chooseBehindInbox(for: runner) : choice
    }

    @inline(never)
    private func chooseReadied(of runner: Runner) -> Choice {
        // What was added before they became ready goes before them (contract G6).
        takeIn()
        return runner.takeOnlyReadied { state.chooseReadied($0, for: runner.lease) }
    }

    @inline(never)
    private func chooseBehindInbox(for runner: Runner) -> Choice {
        takeIn()
        // Without a step to the next segment, which opens the queue.
        return state.choose(for: runner.lease, closureTo: runner.heldClosure)
    }

    /// Puts what was chosen into a runner's hand. Under the lock.
    @inline(__always)
    private func give(_ choice: Choice, to runner: Runner) {
        switch choice {
        case .nothing: break
        case .operation(let operation): runner.take(operation)
        case .guest(let operation): runner.take(guest: operation)
        case .closure(let sequence): runner.takeClosure(sequence: sequence)
        }
    }

    /// The rest of `advance`, where others may have more to do, or less. Under the lock, which it releases.
    @inline(never)
    private func settle(_ runner: Runner, with chosen: Choice, mayGoOn: Bool, tellsObservers: Bool) -> Bool {
        var (choice, mayGoOn, tellsObservers) = (chosen, mayGoOn, tellsObservers)
        if !runner.isListed { runners.insert(runner) }
        while true {
            takeReadied(of: runner)
            let bands = settle(choosingFor: mayGoOn && !tellsObservers ? runner : nil, &choice)
            if !choice.isNothing {
                give(choice, to: runner)
                unlock(calling: bands)
                return true
            }
            if tellsObservers {
                // A closure was counted out that an observer came too late for. Nothing is chosen before it is told, since
                // it may wait for the queue.
                tellOfChange(unlocking: runner, calling: bands)
                tellsObservers = false
            } else if !state.dropped.isEmpty {
                endDropped(for: runner, calling: bands)
                tellsObservers = hasObservers
            } else {
                endLease(of: runner, calling: bands)
                return false
            }
            mayGoOn = runner.mayGoOn(with: self)
        }
    }

    /// Under the lock, which it releases: the only end of a lease.
    @inline(__always)
    private func endLease(of runner: Runner, calling bands: BandSet) {
        runners.remove(runner)
        let haveClosuresEnded = entrance.mayBeCounted && endClosures()
        unlock(calling: bands)
        let isOwing = !runner.owesNothing
        // Retained until the observers have been told: one that came meanwhile may have found the count too high, and
        // nobody else may come to tell it. It may wait for the queue, so all is counted out first.
        let queue = isOwing && hasObservers ? owner?.retain() : nil
        runner.countOutOwed(by: self)
        if haveClosuresEnded { countOut(Self.anyClosures) }
        if isOwing { settleIfObserved() }
        queue?.release()
    }

    private enum TakenSlot {
        case none
        case unnoticed
        /// Of a closure, whose end observers of the queue are to be told of.
        case observed
    }

    /// Takes the slot of what a runner has ended. Under the lock.
    @inline(__always)
    private func takeSlot(of runner: Runner) -> TakenSlot {
        var taken = TakenSlot.unnoticed
        switch runner.ended {
        case .nothing: return .none
        case .closure:
            countOutClosures(1)
            state.runningClosures -= 1
            if hasObservers { taken = .observed }
        case .operation: endedOperations.store(endedOperations.load(ordering: .relaxed) + 1, ordering: .releasing)
        case .countedLater: break
        }
        runner.ended = .nothing
        state.running -= 1
        return taken
    }

    /// Takes the slot of what a runner has ended, and what that made ready. The runner goes on by itself.
    func settle(for runner: Runner) {
        lock.lock()
        if takeSlot(of: runner) == .observed { runner.owesTelling = true }
        takeReadied(of: runner)
        settleAndUnlock()
    }

    /// Files what a runner has kept. Under the lock.
    @inline(__always)
    private func takeReadied(of runner: Runner) {
        if runner.hasReadied { runner.takeReadied { fileLocked($0) } }
    }

    /// Under the lock, and again when it returns: tells the observers, without it.
    private func tellOfChange(unlocking runner: Runner, calling bands: BandSet) {
        // Retained for them.
        let queue = owner?.retain()
        unlock(calling: bands)
        runner.countOutOwed(by: self)
        countOutEndedClosures()
        settleIfObserved()
        queue?.release()
        lock.lock()
    }

    /// Under the lock, and again when it returns: lets go of what was dropped, without the lock. That may run code of the
    /// user, which finds all of it finished, and others at work on what is left.
    private func endDropped(for runner: Runner, calling bands: BandSet) {
        let dropped = state.takeDropped()
        endedOperations.store(endedOperations.load(ordering: .relaxed) + dropped.operationCount, ordering: .releasing)
        state.endingSteps += 1
        unlock(calling: bands)
        if TraceMarks.operations {
            traceEnd(of: dropped) { endExecution(of: dropped) }
        } else {
            endExecution(of: dropped)
        }
        dropped.items.visitAll {
            switch $0.kind {
            case .operation(let operation): operation.release()
            case .batch(let batch): batch.release()
            }
        }
        runner.owe(dropped.operationCount)
        runner.endPresumption()
        lock.lock()
    }

    /// What was dropped lets go of what it was to be executed with, and of those that depend on it: the last operation
    /// first, whose dependents any of them may wait for.
    private func endExecution(of dropped: DroppedOperations) {
        dropped.lastWithSuccessors?._withUnsafeGuaranteedRef {
            $0.executionEnded($0.state.load())
            if $0.releaseSuccessors(own: nil) { OperationThread.releaseKept() }
        }
        var closureCount = 0
        dropped.items.visitAll {
            switch $0.kind {
            case .operation(let operation):
                operation._withUnsafeGuaranteedRef { $0.executionEnded($0.state.load()) }
            case .batch(let batch): closureCount += batch._withUnsafeGuaranteedRef { $0.removeAll() }
            }
        }
        change {
            $0.endingSteps -= 1
            countOutClosures(closureCount)
        }
    }

    // MARK: Leaving

    /// Counts out operations that a runner has ended and released.
    func countOutEnded(_ count: Int) {
        // In this order the sum in `operationCount` is never too low.
        countedOut.wrappingAdd(count, ordering: .sequentiallyConsistent)
        countOut(count)
    }

    /// An operation has left the queue: releases it and counts it out. Without the lock, since its deinit may run.
    func releaseAndCountOut(_ operation: Unmanaged<Operation>) {
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

/// How a runner advances the queue that it serves, and how operations leave the queue.
extension QueueCore {
    /// Gives the slot of the runner's last piece of work back to the queue, and the next piece to the runner if
    /// `mayGoOn`. Returns false if there is none. Then the runner is no longer in the queue's list, and everything that
    /// it ran is counted out.
    @inline(__always)
    func advance(_ runner: Runner, mayGoOn: Bool) -> Bool {
        lock.lock(inTurns: &runner.lockTurns)
        guard freeSlot(of: runner), mayGoOn, !runner.owesTelling else {
            return advanceWithCare(runner, with: .nothing, mayGoOn: mayGoOn)
        }
        // The slot is taken again at once. The queue stays as open as it was, unless it reaches the next segment.
        let choice = chooseAgain(for: runner)
        guard choice.takesSlot, state.isPlain else { return advanceWithCare(runner, with: choice, mayGoOn: true) }
        noteClosing()
        give(choice, to: runner)
        lock.unlock()
        return true
    }

    /// Chooses the next piece of work in the usual case. Under the lock.
    @inline(__always)
    private func chooseAgain(for runner: Runner) -> Choice {
        if runner.hasReadied { return chooseReadied(of: runner) }
        // Ready items go before the inbox.
        let choice = mayHoldUrgent ? .nothing : state.chooseNormal(for: runner.lease)
        return choice.isNothing ? chooseBehindInbox(for: runner) : choice
    }

    @inline(never)
    private func chooseReadied(of runner: Runner) -> Choice {
        // What was added before they became ready goes first (contract G6).
        admitAll()
        return runner.takeOnlyReadied { state.chooseReadied($0, for: runner.lease) }
    }

    @inline(never)
    private func chooseBehindInbox(for runner: Runner) -> Choice {
        admitAll()
        // It does not advance to the next segment: that would open the queue.
        return state.choose(for: runner.lease)
    }

    /// Puts what was chosen into a runner's hand. Under the lock.
    @inline(__always)
    private func give(_ choice: Choice, to runner: Runner) {
        switch choice {
        case .nothing: break
        case .operation(let operation): runner.fillHand(with: operation)
        case .guest(let operation): runner.fillHand(withGuest: operation)
        case .closure(let closure): runner.fillHand(withClosure: closure)
        }
    }

    /// The rest of `advance`, for the cases in which other threads may have more to do, or less. The caller holds the
    /// lock, and this releases it.
    @inline(never)
    private func advanceWithCare(_ runner: Runner, with chosen: Choice, mayGoOn: Bool) -> Bool {
        var (choice, mayGoOn, tellsObservers) = (chosen, mayGoOn, runner.owesTelling)
        runner.owesTelling = false
        if !runner.isListed {
            runners.append(runner)
            runner.isListed = true
        }
        while true {
            takeReadied(of: runner)
            let bands = settle(choosingFor: mayGoOn && !tellsObservers ? runner : nil, &choice)
            if !choice.isNothing {
                give(choice, to: runner)
                unlock(calling: bands)
                return true
            }
            if tellsObservers {
                // The first observer came too late for the end of something that is counted out now. Nothing is chosen
                // before that observer is notified, because it may wait for the queue.
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

    /// The only end of a lease. The caller holds the lock, and this releases it.
    @inline(__always)
    private func endLease(of runner: Runner, calling bands: BandSet) {
        runners.remove(runner)
        runner.isListed = false
        unlock(calling: bands)
        runner.returnPlaces()
        let isOwing = !runner.owesNothing
        // An observer that came in the meantime may have read a count that is too high, and no other thread may come to
        // notify it. So it is notified here, with the queue retained until then. It may wait for the queue, so
        // everything is counted out first.
        let queue = isOwing && hasObservers ? liveOwner : nil
        runner.countOutOwed(by: self)
        if isOwing { withExtendedLifetime(queue) { tellIfObserved() } }
    }

    /// Takes back the slot of what a runner has ended, if it has not given that back. Returns false if it has ended
    /// nothing. Under the lock.
    @inline(__always)
    private func freeSlot(of runner: Runner) -> Bool {
        switch runner.ended {
        case .nothing: return false
        case .countedTogether:
            endedCount += 1
            if state.isObserved { runner.owesTelling = true }
        case .countedAlone: state.tally.endedAlone += 1
        case .withoutSlot:
            runner.ended = .nothing
            return true
        }
        runner.ended = .nothing
        state.running -= 1
        return true
    }

    /// Takes back the slot of an operation that a runner has ended, and files what became ready by that. The runner
    /// continues its work.
    func freeSlotAndFile(of runner: Runner) {
        lock.lock()
        if freeSlot(of: runner) { runner.ended = .withoutSlot }
        takeReadied(of: runner)
        settleAndUnlock()
    }

    /// Files the operations that a runner has kept. Under the lock.
    @inline(__always)
    private func takeReadied(of runner: Runner) {
        if runner.hasReadied { runner.takeReadied { fileLocked($0) } }
    }

    /// Notifies the observers without the lock. The caller holds the lock, also when this returns.
    private func tellOfChange(unlocking runner: Runner, calling bands: BandSet) {
        // Retained for the observers, if it is still there: another runner may have counted out the last of it.
        withExtendedLifetime(liveOwner) {
            unlock(calling: bands)
            runner.countOutOwed(by: self)
            tellIfObserved()
        }
        lock.lock()
    }

    /// Releases what was dropped, without the lock. The caller holds the lock, also when this returns. User code that
    /// runs here finds everything that was dropped finished, and other workers busy with the rest.
    private func endDropped(for runner: Runner, calling bands: BandSet) {
        let dropped = state.takeDropped()
        endedCount += dropped.count
        state.tally.unstarted += dropped.count
        state.tally.cancelled += dropped.count
        state.endingSteps += 1
        unlock(calling: bands)
        if TraceMarks.operations {
            traceEnd(of: dropped) { endExecution(of: dropped) }
        } else {
            endExecution(of: dropped)
        }
        dropped.items.visitAll { if $0.isClosure { runner.free($0.closure) } else { $0.operation.release() } }
        runner.owe(dropped.count)
        runner.endPresumption()
        lock.lock()
    }

    /// Releases the blocks of what was dropped, and the dependents. The last operation's dependents go first, because a
    /// block's deinit in any of them may wait for those.
    private func endExecution(of dropped: DroppedItems) {
        dropped.lastWithSuccessors?._withUnsafeGuaranteedRef {
            $0.executionEnded($0.state.load())
            if $0.releaseSuccessors(own: nil) { Runner.releaseKept() }
        }
        dropped.items.visitAll {
            if $0.isClosure {
                _ = $0.closure.pointee.block.take()
            } else {
                $0.operation._withUnsafeGuaranteedRef { $0.executionEnded($0.state.load()) }
            }
        }
        change { $0.endingSteps -= 1 }
    }

    // MARK: Leaving

    /// Counts out operations that a runner has ended and released.
    func countOutEnded(_ count: Int) {
        // In this order the sum in `operationCount` is never too low.
        countedOut.wrappingAdd(count, ordering: .sequentiallyConsistent)
        countOut(count)
    }

    /// Releases an operation that has left the queue, and counts it out. Without the lock, because its deinit may run.
    func releaseAndCountOut(_ operation: Unmanaged<Operation>) {
        let isBarrier = operation._withUnsafeGuaranteedRef { $0.isBarrier }
        operation.release()
        if isBarrier { countOut(Self.oneBarrier) } else { countOutUnreleased() }
    }

    /// Counts out an operation that has left the queue, and is no barrier. The caller releases it later.
    @inline(__always)
    func countOutUnreleased() {
        if hasObservers { countOutObserved() } else { countOut(1) }
    }

    @inline(never)
    private func countOutObserved() {
        // Retained until the observers are notified: this may be the last operation of a queue that its user dropped.
        withExtendedLifetime(liveOwner) {
            announcing([.operations, .operationCount]) { countOut(1) }
        }
    }

    // MARK: Waiting inside

    /// An operation that holds a slot begins (+1) or ends (−1) an engine wait.
    func countWaitingInside(_ change: Int) { self.change { $0.waitingInside += change } }

    /// Whether `other` cannot start before `holder` has ended. `holder` has begun in this queue and has its only slot,
    /// and `other` waits in it.
    func isOnlySlot(of holder: Operation, neededBy other: Operation) -> Bool {
        guard isWaitingHere(other) else { return false }
        return lock.withLock {
            state.limit == 1 && holder.place.isChosen && holder.place.level != .slotless && isWaitingHere(other)
        }
    }

    /// Whether an operation is in this queue, has not begun and is not cancelled.
    private func isWaitingHere(_ operation: Operation) -> Bool {
        operation.isPending && operation.queueAddress == Unmanaged.passUnretained(self).toOpaque()
    }
}

/// Cancelling all that waits. Guarded by the queue's lock, as is all of `QueueState`.
extension QueueState {
    /// Cancels what waits, as far as that takes no call of the operation: closures, without making objects of them, and
    /// operations of the reached segment that nobody observes and whose class overrides neither `start` nor `cancel`.
    /// They go before everything else, without a slot (contract J9, J10). The others are to be cancelled one by one.
    ///
    /// - Returns: what else there is to be cancelled, in no order: guests, and barriers too.
    mutating func cancelWaiting() -> [(sequence: UInt64, operation: Operation)] {
        closeLastRun()
        var others: [(sequence: UInt64, operation: Operation)] = []
        let overridesCancel = MethodOverride.cancel
        func leave(_ operation: Operation) {
            let word = operation.state.load()
            if operation.isClosureRun || word.isFinished { return }
            if !word.isCancelled || overridesCancel.isPresent(in: operation) {
                others.append((operation.sequence, operation))
            }
        }
        var found: [(sequence: UInt64, link: Unmanaged<Operation>)] = []
        func collect(_ operation: Operation) { found.append((operation.sequence, .passUnretained(operation))) }
        func collectUncancelled(_ operation: Operation) {
            if operation.place.level == .slotless { leave(operation) } else { collect(operation) }
        }
        func collectRun(_ operation: Operation) {
            if operation.isClosureRun { collect(operation) } else { leave(operation) }
        }
        ready.forEach(collectUncancelled)
        waiting.forEach(collect)
        guests.forEach(leave)
        held.visitAll {
            $0.ready.forEach(collectRun)
            $0.waiting.forEach(leave)
        }
        // They finish in the order of adding.
        found.sort { $0.sequence < $1.sequence }
        for (_, link) in found {
            link._withUnsafeGuaranteedRef { if !cancelListed($0) { leave($0) } }
        }
        return others
    }

    /// Cancels one that waits. False if that takes a call of it.
    private mutating func cancelListed(_ operation: Operation) -> Bool {
        if operation.isClosureRun {
            unsafeDowncast(operation, to: ClosureRun.self).isCancelledRun = true
            move(operation, to: QueuePlace(kind: .ready, level: .slotless, band: .normal))
            return true
        }
        guard !operation.isBarrier, let word = cancelUncalled(operation) else { return false }
        move(operation, to: readyPlace(of: operation, word))
        return true
    }

    /// Takes in and cancels an operation from the inbox. False, with no change, if it is none that can be so treated, or
    /// behind a barrier, where others come before it.
    mutating func admitCancelled(_ operation: Operation) -> Bool {
        guard held.isEmpty, !operation.isClosureRun, let word = cancelUncalled(operation) else { return false }
        number(operation)
        ready.append(operation, as: readyPlace(of: operation, word))
        return true
    }

    /// The word of an operation that is cancelled now; nil, with no change, if its class has a say in it.
    @inline(__always)
    private func cancelUncalled(_ operation: Operation) -> OperationState.Word? {
        let hasSay = MethodOverride.start.isPresent(in: operation) || MethodOverride.cancel.isPresent(in: operation)
        return hasSay ? nil : operation.state.cancelListed()
    }

    private mutating func move(_ operation: Operation, to place: QueuePlace) {
        takeOut(operation)
        ready.append(operation, as: place)
    }

    // MARK: Dropping

    /// Whether a cancelled operation that is to be chosen can end without being started, or is a run of closures: unless
    /// its own state word has something against it.
    func isDroppable(_ link: Unmanaged<Operation>) -> Bool {
        link._withUnsafeGuaranteedRef { operation in
            if operation.isClosureRun { return true }
            guard !operation.isBarrier, let queue = operation.queue else { return false }
            // Who observes the queue is told of every operation.
            return queue._withUnsafeGuaranteedRef { !$0.hasObservers }
        }
    }

    /// Has it end. False, with no change, if it has to be started, or if enough is dropped for now.
    mutating func drop(_ link: Unmanaged<Operation>) -> Bool {
        link._withUnsafeGuaranteedRef { operation in
            if dropped.isFull { return false }
            if operation.isClosureRun {
                ready.remove(operation)
                dropped.runs.append(operation)
                return true
            }
            guard operation.state.finishUnnoticed() else { return false }
            ready.remove(operation)
            dropped.operations.append(operation)
            dropped.operationCount += 1
            dropped.lastHasSuccessors = !operation.successors.isEmpty
            return true
        }
    }

    /// What was dropped since: the caller lets go of it, without the lock.
    mutating func takeDropped() -> DroppedOperations {
        let all = dropped
        dropped = DroppedOperations()
        return all
    }
}

/// What has left a queue's lists without having run: cancelled runs of closures, and cancelled operations, which are
/// finished by now. The queue still retains them. Guarded by its lock.
struct DroppedOperations {
    var runs = OperationList()
    var operations = OperationList()
    var operationCount = 0
    /// Then it is the last of a step. Its release may call an observer, who may wait for any of the others, which are
    /// finished, but also for what depends on them: nothing does, and nothing will.
    var lastHasSuccessors = false

    /// So many operations are finished in one step: they take some microseconds.
    private static let mostOperations = 32

    var isEmpty: Bool { operations.isEmpty && runs.isEmpty }
    var isFull: Bool { operationCount >= Self.mostOperations || lastHasSuccessors }
}

/// Cancelling all that waits. Guarded by the queue's lock, as is all of `QueueState`.
extension QueueState {
    /// Cancels what waits, as far as that takes no call of the operation: closures, without making objects of them, and
    /// operations of the reached segment that nobody observes and whose class overrides neither `start` nor `cancel`.
    /// They go before everything else, without a slot (contract J9, J10). The others are to be cancelled one by one.
    ///
    /// - Returns: what else there is to be cancelled, in no order: guests, and barriers too.
    mutating func cancelWaiting() -> [(sequence: UInt64, operation: Operation)] {
        closeLastBatch()
        var others: [(sequence: UInt64, operation: Operation)] = []
        let overridesCancel = MethodOverride.cancel
        func pass(_ operation: Operation) {
            let word = operation.state.load()
            if !word.isFinished, !word.isCancelled || overridesCancel.isPresent(in: operation) {
                others.append((operation.sequence, operation))
            }
        }
        var found: [(sequence: UInt64, item: ReadyItem)] = []
        func take(_ item: ReadyItem) { found.append((item.sequence, item)) }
        func find(_ item: ReadyItem) {
            if item.place.level != .slotless {
                take(item)
            } else if case .operation(let operation) = item.kind {
                pass(operation.takeUnretainedValue())
            }
        }
        ready.visitAll(find)
        waiting.visitAll(take)
        guests.visitOperations(pass)
        held.visitAll {
            $0.ready.visitAll {
                switch $0.kind {
                case .operation(let operation): pass(operation.takeUnretainedValue())
                case .batch: take($0)
                }
            }
            $0.waiting.visitOperations(pass)
        }
        // They finish in the order of adding.
        found.sort { $0.sequence < $1.sequence }
        for (_, item) in found {
            switch item.kind {
            case .operation(let operation): operation._withUnsafeGuaranteedRef { if !cancelListed($0) { pass($0) } }
            case .batch(let batch): batch._withUnsafeGuaranteedRef { cancelListed($0) }
            }
        }
        return others
    }

    /// Cancels one that waits. False if that takes a call of it.
    private mutating func cancelListed(_ operation: Operation) -> Bool {
        guard !operation.isBarrier, let word = cancelUncalled(operation) else { return false }
        takeOut(operation)
        ready.append(ReadyItem(operation), as: readyPlace(of: operation, word))
        return true
    }

    /// Of all listed batches: none is open.
    private mutating func cancelListed(_ batch: ClosureBatch) {
        batch.isCancelled = true
        let item = ReadyItem(batch)
        if batch.sequence >= held.firstSequence {
            held.segment(of: batch.sequence).ready.remove(item)
        } else {
            ready.remove(item)
        }
        ready.append(item, as: QueuePlace(kind: .ready, level: .slotless))
    }

    /// Takes in and cancels an operation from the inbox. False, with no change, if it is none that can be so treated, or
    /// behind a barrier, where others come before it.
    mutating func admitCancelled(_ item: ReadyItem) -> Bool {
        guard held.isEmpty, case .operation(let link) = item.kind else { return false }
        return link._withUnsafeGuaranteedRef { operation in
            guard let word = cancelUncalled(operation) else { return false }
            number(operation)
            ready.append(item, as: readyPlace(of: operation, word))
            return true
        }
    }

    /// The word of an operation that is cancelled now; nil, with no change, if its class has a say in it.
    @inline(__always)
    private func cancelUncalled(_ operation: Operation) -> OperationState.Word? {
        let hasSay = MethodOverride.start.isPresent(in: operation) || MethodOverride.cancel.isPresent(in: operation)
        return hasSay ? nil : operation.state.cancelListed()
    }

    // MARK: Dropping

    /// Has what is cancelled, and stands first, end without being started. False, with no change, if it has to be
    /// started, since somebody is to be told of its end or its class has a say in it, or if enough is dropped for now.
    @inline(never)
    mutating func drop(_ item: ReadyItem) -> Bool {
        if dropped.isFull { return false }
        switch item.kind {
        case .batch: break
        case .operation(let operation):
            let hasEnded = operation._withUnsafeGuaranteedRef { !isObserved && $0.state.finishUnnoticed() }
            guard hasEnded else { return false }
        }
        ready.removeFirst(item)
        dropped.append(item)
        return true
    }

    /// What was dropped since: the caller lets go of it, without the lock.
    mutating func takeDropped() -> DroppedOperations {
        let all = dropped
        dropped = DroppedOperations()
        return all
    }
}

/// What has left a queue's lists without having run: cancelled batches, and cancelled operations, which are finished by
/// now. The queue still retains them. Guarded by its lock.
struct DroppedOperations {
    private(set) var items = ItemList()
    private(set) var operationCount = 0
    /// The last of a step, since others depend on it. Its release may call an observer, who may wait for any of the others,
    /// which are finished, but also for what depends on them: nothing does, and nothing will.
    private(set) var lastWithSuccessors: Unmanaged<Operation>?

    /// So many operations are finished in one step: they take some microseconds.
    private static let mostOperations = 32

    var isEmpty: Bool { items.isEmpty }
    var isFull: Bool { operationCount >= Self.mostOperations || lastWithSuccessors != nil }

    mutating func append(_ item: ReadyItem) {
        items.append(item)
        guard case .operation(let operation) = item.kind else { return }
        operationCount += 1
        if operation._withUnsafeGuaranteedRef({ !$0.successors.isEmpty }) { lastWithSuccessors = operation }
    }
}

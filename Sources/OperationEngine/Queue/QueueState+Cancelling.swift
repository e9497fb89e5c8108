/// Cancelling all that waits. Guarded by the queue's lock, as is all of `QueueState`.
extension QueueState {
    /// Cancels what waits and can be cancelled without a call of its methods. These are closures, for which no objects
    /// are made, and operations of the reached segment that are not observed and whose class overrides neither `start`
    /// nor `cancel`. They go before everything else, without a slot (contract J9, J10). The caller cancels the others
    /// one by one.
    ///
    /// - Returns: the others, in no order. Guests and barriers are among them.
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

    /// Cancels a waiting operation. Returns false if that needs a call of its methods.
    private mutating func cancelListed(_ operation: Operation) -> Bool {
        guard !operation.isBarrier, let word = cancelUncalled(operation) else { return false }
        takeOut(operation)
        ready.append(ReadyItem(operation), as: readyPlace(of: operation, word))
        return true
    }

    /// Cancels a listed batch. No listed batch is open at this time.
    private mutating func cancelListed(_ batch: ClosureBatch) {
        batch.isCancelled = true
        let item = ReadyItem(batch)
        if batch.sequence >= held.firstSequence {
            held.segment(of: batch.sequence).ready.remove(item)
        } else {
            ready.remove(item)
        }
        ready.append(item, as: ListPlace(kind: .ready, level: .slotless))
    }

    /// Admits and cancels an operation from the inbox. Returns false, with no change, for a batch, for an operation
    /// that needs a call of its methods, and behind a barrier, where others go before it.
    mutating func admitCancelled(_ item: ReadyItem) -> Bool {
        guard held.isEmpty, case .operation(let link) = item.kind else { return false }
        return link._withUnsafeGuaranteedRef { operation in
            guard let word = cancelUncalled(operation) else { return false }
            number(operation)
            ready.append(item, as: readyPlace(of: operation, word))
            return true
        }
    }

    /// Cancels an operation and returns its new word. Returns nil, with no change, if its class overrides `start` or
    /// `cancel`, or if `cancelListed` refuses.
    @inline(__always)
    private func cancelUncalled(_ operation: Operation) -> OperationState.Word? {
        let hasSay = MethodOverride.start.isPresent(in: operation) || MethodOverride.cancel.isPresent(in: operation)
        return hasSay ? nil : operation.state.cancelListed()
    }

    // MARK: Dropping

    /// Ends the first item, which is cancelled, without starting it. Returns false, with no change, if enough is
    /// dropped for now, or if the operation has to be started, because its end takes more than leaving the queue
    /// (`Word.endsNoticed`).
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

    /// Hands over what was dropped. The caller releases it without the lock.
    mutating func takeDropped() -> DroppedOperations {
        let all = dropped
        dropped = DroppedOperations()
        return all
    }
}

/// Items that left a queue's lists without having run: cancelled batches, and cancelled operations that are finished
/// now. The queue still retains them. Guarded by the queue's lock.
struct DroppedOperations {
    private(set) var items = ItemList()
    private(set) var operationCount = 0
    /// The last operation of a step, because others depend on it. Releasing those may call an observer. The observer
    /// may wait for any operation of this step: all are finished. It may also wait for what depends on them: on the
    /// others nothing depends, and nothing will.
    private(set) var lastWithSuccessors: Unmanaged<Operation>?

    /// At most this many operations are finished in one step, which then takes some microseconds.
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

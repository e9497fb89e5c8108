/// Cancelling all that waits. Guarded by the queue's lock, as is all of `QueueState`.
extension QueueState {
    /// Cancels what waits and can be cancelled without a call of its methods. These are closures, for which no objects
    /// are made, and operations of the reached segment that are not observed and whose class overrides neither `start`
    /// nor `cancel`. They go before everything else, without a slot (contract J9, J10). The caller cancels the others
    /// one by one.
    ///
    /// - Returns: the others, in no order. Guests and barriers are among them.
    mutating func cancelWaiting() -> [Operation] {
        var others: [Operation] = []
        let overridesCancel = MethodOverride.cancel
        func pass(_ operation: Operation) {
            let word = operation.state.load()
            if !word.isFinished, !word.isCancelled || overridesCancel.isPresent(in: operation) {
                others.append(operation)
            }
        }
        var found: [QueueItem.Pointer] = []
        visit { item, segment in
            let isReached = item.isClosure || segment == nil && !item.pointee.place.isChosen
            if isReached, item.pointee.place.level != .slotless {
                found.append(item)
            } else if !item.isClosure {
                pass(item.operation.takeUnretainedValue())
            }
            return true
        }
        // They finish in the order of adding.
        found.sort { $0.pointee.sequence < $1.pointee.sequence }
        for item in found {
            if let place = cancelUncalled(item) {
                unlist(item)
                ready.append(item, as: place)
            } else {
                pass(item.operation.takeUnretainedValue())
            }
        }
        return others
    }

    /// Admits and cancels an item from the inbox. Returns false, with no change, for an operation that needs a call of
    /// its methods, and behind a barrier, where others go before it.
    mutating func admitCancelled(_ item: QueueItem.Pointer) -> Bool {
        guard held.isEmpty, let place = cancelUncalled(item) else { return false }
        number(item)
        ready.append(item, as: place)
        return true
    }

    /// Cancels an item and returns its new place. Returns nil, with no change, for a barrier, if the operation's class
    /// overrides `start` or `cancel`, or if `cancelListed` refuses.
    @inline(__always)
    private func cancelUncalled(_ item: QueueItem.Pointer) -> ListPlace? {
        if item.isClosure { return .slotless }
        return item.operation._withUnsafeGuaranteedRef { operation in
            let hasSay =
                operation.isBarrier || MethodOverride.start.isPresent(in: operation)
                || MethodOverride.cancel.isPresent(in: operation)
            return hasSay ? nil : operation.state.cancelListed().map { readyPlace(of: operation, $0) }
        }
    }

    // MARK: Dropping

    /// Ends the first item, which is cancelled, without starting it. Returns false, with no change, if enough is
    /// dropped for now, or if the operation has to be started, because its end takes more than leaving the queue
    /// (`Word.endsNoticed`).
    @inline(never)
    mutating func drop(_ item: QueueItem.Pointer) -> Bool {
        if dropped.isFull { return false }
        if !item.isClosure {
            let hasEnded = item.operation._withUnsafeGuaranteedRef { !isObserved && $0.state.finishUnnoticed() }
            guard hasEnded else { return false }
        }
        ready.removeFirst(item)
        dropped.append(item)
        return true
    }

    /// Hands over what was dropped. The caller releases it without the lock.
    mutating func takeDropped() -> DroppedItems {
        let all = dropped
        dropped = DroppedItems()
        return all
    }
}

/// Items that left a queue's lists without having run: cancelled closures, and cancelled operations that are finished
/// now. They still belong to the queue. Guarded by the queue's lock.
struct DroppedItems {
    private(set) var items = ItemList()
    private(set) var count = 0
    /// The last operation of a step, because others depend on it. Releasing those may call an observer. The observer
    /// may wait for any operation of this step: all are finished. It may also wait for what depends on them: on the
    /// others nothing depends, and nothing will.
    private(set) var lastWithSuccessors: Unmanaged<Operation>?

    /// At most this many items end in one step, which then takes some microseconds.
    private static let mostItems = 32

    var isEmpty: Bool { items.isEmpty }
    var isFull: Bool { count >= Self.mostItems || lastWithSuccessors != nil }

    mutating func append(_ item: QueueItem.Pointer) {
        items.append(item)
        count += 1
        if item.isClosure { return }
        if item.operation._withUnsafeGuaranteedRef({ !$0.successors.isEmpty }) { lastWithSuccessors = item.operation }
    }
}

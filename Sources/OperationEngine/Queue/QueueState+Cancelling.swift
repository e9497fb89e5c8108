/// Cancelling all that waits. Guarded by the queue's lock, as is all of `QueueState`.
extension QueueState {
    /// Cancels what waits, as far as that takes no call of the operation: closures, without making objects of them, and
    /// operations of the reached segment that nobody observes and whose class overrides neither `start` nor `cancel`.
    /// They go before everything else, without a slot (contract J9, J10). The others are to be cancelled one by one.
    mutating func cancelWaiting() {
        closeLastRun()
        let (start, cancel) = (MethodOverride.start, MethodOverride.cancel)
        var found: [Unmanaged<Operation>] = []
        let collect = { (operation: Operation) in
            if operation.place.level != .slotless { found.append(.passUnretained(operation)) }
        }
        ready.forEach(collect)
        waiting.forEach(collect)
        let collectRun = { (operation: Operation) in if operation.isClosureRun { collect(operation) } }
        held.visitAll { $0.ready.forEach(collectRun) }
        // They finish in the order of adding.
        found.sort { $0._withUnsafeGuaranteedRef(\.sequence) < $1._withUnsafeGuaranteedRef(\.sequence) }
        for link in found {
            link._withUnsafeGuaranteedRef { operation in
                if operation.isClosureRun {
                    unsafeDowncast(operation, to: ClosureRun.self).isCancelledRun = true
                    move(operation, to: QueuePlace(kind: .ready, level: .slotless, band: .normal))
                } else if !operation.isBarrier, !start.isPresent(in: operation), !cancel.isPresent(in: operation),
                    let word = operation.state.cancelListed()
                {
                    move(operation, to: readyPlace(of: operation, word))
                }
            }
        }
    }

    private mutating func move(_ operation: Operation, to place: QueuePlace) {
        takeOut(operation)
        ready.append(operation, as: place)
    }

    /// Takes a cancelled run out of its list, for `takeDropped`.
    mutating func drop(_ run: Unmanaged<ClosureRun>) {
        run._withUnsafeGuaranteedRef {
            ready.remove($0)
            $0.next = droppedRuns
        }
        droppedRuns = Unmanaged.fromOpaque(run.toOpaque())
    }

    /// The cancelled runs that were chosen since, linked by `next`: the caller releases them, without the lock.
    mutating func takeDropped() -> Unmanaged<Operation>? { droppedRuns.take() }
}

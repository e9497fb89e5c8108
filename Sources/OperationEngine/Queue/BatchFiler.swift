/// Files the operations that one finishing operation made ready, taking each queue's lock once for a run of them.
struct BatchFiler {
    /// The calling runner, if it advances its queue right afterwards: what belongs there is filed in that same step.
    let own: Unmanaged<OperationThread>?
    private var locked: QueueCore?
    /// Those whose class overrides `isReady`: to be filed when no lock is held.
    private var toBeAsked: [Operation] = []
    /// Those that hear of the finish, as their observer lists.
    private var toBeTold: [ObserverList<Operation>] = []

    init(own: Unmanaged<OperationThread>?) { self.own = own }

    mutating func file(_ operation: Operation) {
        if operation.state.load().has(OperationState.Word.hasOwnReadiness) { return toBeAsked.append(operation) }
        if let own, own._withUnsafeGuaranteedRef({ $0.keepReadied(operation) }) { return }
        guard let queue = operation.core?.takeUnretainedValue() else { return }
        if queue !== locked {
            unlock()
            queue.lock.lock()
            locked = queue
        }
        queue.fileLocked(operation)
    }

    mutating func unlock() {
        locked?.settleAndUnlock()
        locked = nil
    }

    /// Files what the runner has kept, since there is much more to come.
    func fileOwn() { own?._withUnsafeGuaranteedRef { $0.settle() } }

    /// An operation that is observed, or asked outside of queues, hears of it before it is filed.
    mutating func tellLater(_ observers: ObserverList<Operation>) { toBeTold.append(observers) }

    /// Tells those that hear of it, and files those whose `isReady` is overridden. Without any lock.
    ///
    /// - Returns: whether something was kept alive meanwhile; see `KeptAlive`.
    mutating func fileTheRest() -> Bool {
        if toBeTold.isEmpty, toBeAsked.isEmpty { return false }
        // Code of the user may go on for long, or wait for what the runner has kept.
        fileOwn()
        defer {
            toBeTold = []
            toBeAsked = []
        }
        return KeptAlive.during {
            // The list's weak reference says whether the operation is still there.
            for observers in toBeTold { observers.tellOfFinishedDependency() }
            for operation in toBeAsked {
                KeptAlive.keep(operation)
                operation.fileWithQueue()
            }
        }
    }
}

/// Files the operations that one finishing operation made ready. Takes a queue's lock once for consecutive operations
/// of that queue.
struct BatchFiler {
    /// The calling runner, if it advances its queue right afterwards. That step then files the operations of its queue.
    let own: Unmanaged<Runner>?
    private var locked: QueueCore?
    /// Operations whose class overrides `isReady`. They are filed when no lock is held.
    private var toBeAsked: [Operation] = []
    /// The observer lists of operations that are notified of the finish.
    private var toBeTold: [ObserverList<Operation>] = []

    init(own: Unmanaged<Runner>?) { self.own = own }

    mutating func file(_ operation: Operation) {
        if operation.state.load().has(OperationState.Word.hasOwnReadiness) { return toBeAsked.append(operation) }
        if let own, own._withUnsafeGuaranteedRef({ $0.keepReadied(operation) }) { return }
        guard let queue = operation.queue?.takeUnretainedValue() else { return }
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

    /// Files what the runner has kept, before much more follows.
    func fileOwn() { own?._withUnsafeGuaranteedRef { $0.settle() } }

    /// An operation that is observed, or asked outside of queues, is notified before it is filed.
    mutating func tellLater(_ observers: ObserverList<Operation>) { toBeTold.append(observers) }

    /// Notifies the operations of `toBeTold`, and files those whose `isReady` is overridden. Without any lock.
    ///
    /// - Returns: whether something was kept alive meanwhile; see `KeptAlive`.
    mutating func fileTheRest() -> Bool {
        if toBeTold.isEmpty, toBeAsked.isEmpty { return false }
        // User code may take long, or wait for what the runner has kept.
        fileOwn()
        defer {
            toBeTold = []
            toBeAsked = []
        }
        return KeptAlive.during {
            // The list's weak reference shows whether the operation still exists.
            for observers in toBeTold { observers.tellOfFinishedDependency() }
            for operation in toBeAsked {
                KeptAlive.keep(operation)
                operation.fileWithQueue()
            }
        }
    }
}

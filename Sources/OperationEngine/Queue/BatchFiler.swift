/// Files the operations that one finishing operation made ready. Takes a queue's lock once for consecutive operations
/// of that queue.
struct BatchFiler: ~Copyable {
    /// The calling runner, if it advances its queue right afterwards. That step then files the operations of its queue.
    let own: Unmanaged<Runner>?
    /// Retained.
    private var locked: Unmanaged<QueueCore>?
    /// Retained. Made for the first operation that needs it.
    private var rest: Unmanaged<Rest>?

    /// What is done when no lock is held.
    private final class Rest {
        /// Operations whose class overrides `isReady`. They are filed then.
        var toBeAsked: [Operation] = []
        /// The observer lists of operations that are notified of the finish.
        var toBeTold: [ObserverList<Operation>] = []
    }

    @inline(__always)
    init(own: Unmanaged<Runner>?) { self.own = own }

    @inline(__always)
    mutating func file(_ operation: Operation) {
        if operation.state.load().has(OperationState.Word.hasOwnReadiness) {
            withRest { $0.toBeAsked.append(operation) }
        } else if let own, own._withUnsafeGuaranteedRef({ $0.keepReadied(operation) }) {
            return
        } else if let queue = operation.queue {
            fileLocking(operation, queue)
        }
    }

    @inline(never)
    private mutating func fileLocking(_ operation: Operation, _ queue: Unmanaged<QueueCore>) {
        if queue.toOpaque() != locked?.toOpaque() {
            unlock()
            locked = queue.retain()
            queue._withUnsafeGuaranteedRef { $0.lock.lock() }
        }
        queue._withUnsafeGuaranteedRef { $0.fileLocked(operation) }
    }

    @inline(__always)
    mutating func unlock() {
        guard let locked = locked.take() else { return }
        locked._withUnsafeGuaranteedRef { $0.settleAndUnlock() }
        locked.release()
    }

    /// Files what the runner has kept, before much more follows.
    func fileOwn() { own?._withUnsafeGuaranteedRef { $0.settle() } }

    /// An operation that is observed, or asked outside of queues, is notified before it is filed.
    mutating func tellLater(_ observers: ObserverList<Operation>) { withRest { $0.toBeTold.append(observers) } }

    private mutating func withRest(_ body: (Rest) -> Void) {
        let rest = rest ?? .passRetained(Rest())
        self.rest = rest
        rest._withUnsafeGuaranteedRef(body)
    }

    /// Notifies the operations of `toBeTold`, and files those whose `isReady` is overridden. Without any lock.
    ///
    /// - Returns: whether something was kept alive meanwhile; see `KeptAlive`.
    @inline(__always)
    mutating func fileTheRest() -> Bool { rest == nil ? false : fileExistingRest() }

    @inline(never)
    private mutating func fileExistingRest() -> Bool {
        guard let rest = rest.take()?.takeRetainedValue() else { return false }
        // User code may take long, or wait for what the runner has kept.
        fileOwn()
        return KeptAlive.during {
            // The list's weak reference shows whether the operation still exists.
            for observers in rest.toBeTold { observers.tellOfFinishedDependency() }
            for operation in rest.toBeAsked {
                KeptAlive.keep(operation)
                operation.fileWithQueue()
            }
        }
    }
}

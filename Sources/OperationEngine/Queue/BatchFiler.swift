/// Files the operations that one finishing operation made ready. Takes a queue's lock once for consecutive operations
/// of that queue.
struct BatchFiler: ~Copyable {
    /// The calling runner, if it advances its queue right afterwards. That step then files the operations of its queue.
    let own: Unmanaged<Runner>?
    /// Retained.
    private var locked: Unmanaged<QueueCore>?
    /// The calls to be made when no lock is held. Mostly nothing: then a nil costs less than an empty array.
    private var later: [Later]?

    private enum Later {
        /// Notifies an operation of the finish.
        case tell(ObserverList<Operation>)
        /// Files an operation whose class overrides `isReady`.
        case ask(Operation)
    }

    @inline(__always)
    init(own: Unmanaged<Runner>?) { self.own = own }

    @inline(__always)
    mutating func file(_ operation: Operation) {
        if operation.state.load().has(OperationState.Word.hasOwnReadiness) { return add(.ask(operation)) }
        if let own, own._withUnsafeGuaranteedRef({ $0.noteReadied(operation) }) { return }
        if let queue = operation.queue { fileLocking(operation, queue) }
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
    func fileOwn() { own?._withUnsafeGuaranteedRef { $0.freeSlotAndFile() } }

    /// An operation that is observed, or asked outside of queues, is notified before it is filed.
    mutating func tellLater(_ observers: ObserverList<Operation>) { add(.tell(observers)) }

    private mutating func add(_ entry: Later) {
        var entries = later.take() ?? []
        entries.append(entry)
        later = entries
    }

    /// Notifies operations, and files those whose `isReady` is overridden. Without any lock.
    ///
    /// - Returns: whether something was kept alive meanwhile; see `KeptAlive`.
    @inline(__always)
    mutating func makeCalls() -> Bool { later == nil ? false : makeCalls(later.take()!) }

    @inline(never)
    private func makeCalls(_ later: [Later]) -> Bool {
        // User code may take long, or wait for what the runner has kept.
        fileOwn()
        return KeptAlive.during {
            for entry in later {
                switch entry {
                // The list's weak reference shows whether the operation still exists.
                case .tell(let observers): observers.tellOfFinishedDependency()
                case .ask(let operation):
                    KeptAlive.keep(operation)
                    operation.fileWithQueue()
                }
            }
        }
    }
}

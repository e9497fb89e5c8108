/// How operations enter the queue, and how an operation that becomes ready is filed.
extension QueueCore {
    /// Adds an operation that the caller has claimed and retained for the queue. The caller keeps it alive meanwhile.
    ///
    /// Ready or not, it goes through the inbox. If it becomes ready there, it is filed by the thread that makes it
    /// ready, as everywhere. If it overrides `isReady`, it is admitted at once, and asked.
    func add(_ operation: Operation) {
        publish(operation)
        let before = operation.state.load()
        if before.has(OperationState.Word.hasOwnReadiness) {
            countIn(1)
            change { $0.admit(operation.asItem) }
            return operation.readinessMayHaveChanged()
        }
        push(operation.asItem)
        let word = operation.state.loadAfterPush()
        if word.isCancelled {
            // It may finish even while nothing in the queue may start.
            change { _ in }
        } else if word.isReady {
            if word.isUrgent { setHoldsUrgent() }
            // It may lose its readiness again. Then a worker comes in vain and files it as waiting.
            signal(word.band, isAdding: true)
        }
    }

    /// As `add(_:)`, for an operation that no other thread knows, that is ready and does not override `isReady`. It may
    /// be gone when this returns.
    func add(unknown operation: Unmanaged<Operation>) {
        let band = operation._withUnsafeGuaranteedRef { operation in
            operation.queue = .passUnretained(self)
            let band = newcomersBand
            if band != .normal { operation.adopt(band) }
            operation.state.enqueueUnknown()
            push(operation.asItem)
            if band != .normal { setHoldsUrgent() }
            return band
        }
        signal(band, isAdding: true)
    }

    /// Adds a closure without an object. Returns false if it has to be added as an operation.
    @inline(__always)
    func add(_ closure: @escaping @Sendable () -> Void, isTraced: Bool = false) -> Bool {
        if newcomersBand != .normal { return false }
        let item = WaitingClosure.make(closure)
        if isTraced { traceAdding(item.closure.traceID) }
        push(item)
        signal(.normal, isAdding: true)
        return true
    }

    /// As `add(_:)`, for several operations in one step.
    func add(_ operations: [Operation]) {
        guard let first = operations.first else { return }
        var last = first
        for operation in operations {
            publish(operation)
            if operation !== first { operation.asItem.pointee.next = last.asItem }
            last = operation
        }
        push(first: first.asItem, last: last.asItem)

        var readyBands = BandSet()
        var isAnyUrgent = false
        var admitsAtOnce = false
        for operation in operations {
            let word = operation.state.loadAfterPush()
            if word.isCancelled || word.has(OperationState.Word.hasOwnReadiness) {
                admitsAtOnce = true
            } else if word.isReady {
                isAnyUrgent = isAnyUrgent || word.isUrgent
                readyBands.insert(word.band)
            }
        }
        if isAnyUrgent { setHoldsUrgent() }
        guard admitsAtOnce else {
            for band in readyBands { signal(band, isAdding: true) }
            return
        }
        change { _ in }
        for operation in operations where operation.state.load().has(OperationState.Word.hasOwnReadiness) {
            operation.readinessMayHaveChanged()
        }
    }

    /// Adds a barrier behind everything that was added before. The caller has claimed and retained it, as any
    /// operation.
    func addBarrier(_ barrier: BarrierOperation) {
        countIn(Self.oneBarrier)
        publish(barrier)
        change { $0.admitBarrier(barrier) }
    }

    @inline(__always)
    private func push(_ item: QueueItem.Pointer) { push(first: item, last: item) }

    /// Pushes items into the inbox, for which `unfinished` has one unit while it is not empty. The unit is there before
    /// the items can be seen, and the holder of the lock that takes them counts in the others. If two threads fill the
    /// inbox at once, the later one gives its unit back.
    @inline(__always)
    private func push(first: QueueItem.Pointer, last: QueueItem.Pointer) {
        if inbox.push(first: first, last: last, beforeFilling: { countIn(1) }) { countOut(1) }
    }

    /// Stores the queue in a claimed operation.
    @inline(__always)
    private func publish(_ operation: Operation) {
        operation.queue = .passUnretained(self)
        let band = newcomersBand
        if band != .normal { operation.adopt(band) }
        if operation.overridesItsCourse { operation.becomeGuest() }
        if TraceMarks.adding { return operation.publishTraced() }
        operation.state.publishQueue()
    }

    // MARK: Filing

    /// As `file`, for a caller that holds `lock` and then calls `settleAndUnlock`, and for an operation that does not
    /// override `isReady`.
    func fileLocked(_ operation: Operation) {
        // What was added before it became ready goes first (contract G6).
        emptyInbox { state.admit($0) }
        _ = state.file(operation, nil)
    }
}

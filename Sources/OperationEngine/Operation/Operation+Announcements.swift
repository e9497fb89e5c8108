/// How a subclass announces changes of state that it keeps itself: an asynchronous operation its end (contract C), an
/// operation with its own `isReady` a change of that (F).
///
/// The calls are those of key-value observing, so code written for Foundation needs no change. Set your state between
/// `willChangeValue` and `didChangeValue`.
extension Operation {
    /// Call it before the property changes. The call of `didChangeValue` that follows may come from another thread.
    ///
    /// - Parameter key: the property's name, as `isFinished`, or in the short spelling `finished` (contract D2).
    public final func willChangeValue(forKey key: String) {
        if let key = Self.observable.key(named: key) { observers?.willChange(key, by: .subclass) }
    }

    /// Call it after the property has changed, from any thread. For `isFinished`, the operation is finished once the
    /// property is true: its slot is free, and its dependents and its completion block may run. For `isReady`, the
    /// queue asks the property again.
    public final func didChangeValue(forKey key: String) {
        if let key = Self.observable.key(named: key) { hasChanged(key) }
    }

    /// As `willChangeValue(forKey:)`.
    public final func willChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
        if let key = Self.observable.key(of: keyPath) { observers?.willChange(key, by: .subclass) }
    }

    /// As `didChangeValue(forKey:)`.
    public final func didChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
        if let key = Self.observable.key(of: keyPath) { hasChanged(key) }
    }

    private func hasChanged(_ key: ObservedKey) {
        if key == .isFinished {
            // See the argument at `OwnEnd`: the subclass has changed its answer before this step.
            state.passOn()
            if askWhetherFinished(), endByOwnAccount() { return }
        }
        observers?.didChange(key, by: .subclass)
        if key == .isReady {
            readinessMayHaveChanged()
            askOutsideQueue()
        }
    }

    // MARK: The end

    /// Ends the operation after a subclass has announced that `isFinished` is true. Returns false if the operation is
    /// finished already: only the first announcement ends it (contract C11).
    private func endByOwnAccount() -> Bool {
        // The phase `executing` ends in `finished` only.
        let isAnnounced = state.isObserved && !announcesExecution && state.load().phase == .executing
        if isAnnounced { observers?.willChange(.isExecuting) }
        guard let last = state.finishFromAnyPhase() else {
            if isAnnounced { observers?.forgetChange(.isExecuting) }
            return false
        }
        conclude(last, on: nil, leavesQueue: true, by: .subclass)
        return true
    }

    /// Whether the subclass has an `isExecuting` of its own, which it announces itself.
    var announcesExecution: Bool { MethodOverride.isExecuting.isPresent(in: self) }

    /// Takes the operation out of its queue and frees its slot if it has one, whatever its thread still does in `start`
    /// (contract C6). If it was being filed, the filing thread withdraws it. If it is in a runner's hand, or was chosen
    /// and not yet started, it leaves with its runner.
    func withdraw(_ last: OperationState.Word) {
        switch last.phase {
        case .enqueued, .waiting, .ready, .filing:
            Misuse.finishWithoutStart(operation: description).report()
            if last.phase == .filing { return }
        case .dispatched, .executing:
            guard last.leavesQueueByItself else { return }
            // Another thread that runs it may be retaining the queue at this moment: see `keptQueue`.
            if last.has(OperationState.Word.runsElsewhere) { lock.withLock {} }
        case .idle, .claimed, .finished:
            return
        }
        queue?.takeUnretainedValue().withdraw(self)
    }

    /// The queue, kept alive for a thread that runs the operation and may continue after the operation has announced
    /// its end. Nil if there is no queue, or if the end has come already. Called inside the engine's `start`.
    ///
    /// Until the operation ends, nothing takes it out of its queue, so the queue is alive. If the end comes after this
    /// check, the announcing thread takes the lock before it withdraws the operation.
    func keptQueue() -> OperationQueue? {
        lock.withLock { state.load().isFinished ? nil : queue?.takeUnretainedValue().liveOwner }
    }

    // MARK: Readiness

    /// Marks a claimed operation that overrides `start`, `isReady` or `isFinished` as a guest of its queue.
    @inline(never)
    func becomeGuest() {
        var reasons: UInt64 = 0
        if MethodOverride.isReady.isPresent(in: self) { reasons |= OperationState.Word.hasOwnReadiness }
        if MethodOverride.isFinished.isPresent(in: self) { reasons |= OperationState.Word.hasOwnEnd }
        state.setGuest(reasons)
    }

    /// Asks the overridden `isReady` of an operation in no queue, which may start itself then (contract F8). With no
    /// lock held.
    func askOutsideQueue() {
        if state.load().phase == .idle, MethodOverride.isReady.isPresent(in: self) { _ = isReady }
    }

    /// Makes the end of the last dependency ask an overridden `isReady`. Returns whether there is one. Called before
    /// the dependency is linked. Only the first dependency checks for the override.
    @inline(__always)
    func isToBeAskedOutsideQueue(_ word: OperationState.Word) -> Bool {
        guard word.phase == .idle, !word.has(OperationState.Word.isPlainBlock) else { return false }
        if word.has(OperationState.Word.hasOwnReadiness) { return true }
        if word.has(OperationState.Word.hasDependencies) || !MethodOverride.isReady.isPresent(in: self) { return false }
        _ = state.observers(orMake: { makeObserverList() })
        state.setOwnReadiness()
        return true
    }

    /// The answer of an overridden `isReady` to a start by hand. Nil, without a call, if another start is asking. That
    /// start may be the one that calls this from inside `isReady`: without this, two starts would call each other
    /// forever.
    @inline(never)
    func askForStart() -> Bool? {
        guard state.beginStartsQuestion() else { return nil }
        defer { state.endStartsQuestion() }
        return isReady
    }

    /// From now on an overridden `isReady` may answer differently.
    func readinessMayHaveChanged() {
        if state.announceReadiness() == .file { fileWithQueue() }
    }

    /// Puts the operation into its queue's ready list, or among the waiting ones. Asks an overridden `isReady`. Called,
    /// with no lock held, by the one thread whose transition brought the operation into the phase `filing`.
    ///
    /// - Parameter becameReady: whether that transition made it ready, for the trace.
    func fileWithQueue(becameReady: Bool = false) {
        guard let queue = queue?.takeUnretainedValue() else { return }
        guard state.load().has(OperationState.Word.hasOwnReadiness) else {
            if becameReady, TraceMarks.operations { traceReady() }
            _ = queue.file(self, nil)
            return
        }
        while true {
            let isReady = askWhetherReady()
            if isReady, TraceMarks.operations { traceReady() }
            // An event during the call makes the answer out of date. Then `isReady` is asked again.
            if queue.file(self, isReady) { return }
        }
    }

    /// Called by the runner that has chosen the operation, before it starts it (contract F5). Returns false if the
    /// operation was given back to its queue.
    func isStillReady(in queue: QueueCore) -> Bool {
        if !state.load().has(OperationState.Word.hasOwnReadiness) { return true }
        while true {
            // If it has ended in the meantime, it cannot be given back.
            if askWhetherReady() || state.load().isFinished { return true }
            if queue.unchoose(self) { return false }
        }
    }

    private func askWhetherReady() -> Bool {
        state.beginAsking()
        return isReady
    }
}

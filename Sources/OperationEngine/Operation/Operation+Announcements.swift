/// What a subclass tells the engine of state that it keeps itself: an asynchronous operation of its end (contract C),
/// one with a readiness of its own of a change in it (F).
///
/// The calls are those of key-value observing, so that code written for Foundation needs no change: set your state
/// between `willChangeValue` and `didChangeValue`.
extension Operation {
    /// To be called before the property changes.
    ///
    /// - Parameter key: the property's name, as `isFinished` or in the short spelling `finished` (contract D2).
    public final func willChangeValue(forKey key: String) {
        if let key = ObservedKey(operationKey: key) { observers?.willChange(key) }
    }

    /// To be called after the property has changed, from any thread. For `isFinished` the operation is done once the
    /// property is true: its slot is free, its dependents and its completion block may run. For `isReady` the queue
    /// asks the property anew.
    public final func didChangeValue(forKey key: String) {
        if let key = ObservedKey(operationKey: key) { hasChanged(key) }
    }

    /// As `willChangeValue(forKey:)`.
    public final func willChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
        if let key = ObservedKey(keyPath) { observers?.willChange(key) }
    }

    /// As `didChangeValue(forKey:)`.
    public final func didChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
        if let key = ObservedKey(keyPath) { hasChanged(key) }
    }

    private func hasChanged(_ key: ObservedKey) {
        if key == .isFinished, isFinished, let last = state.finishFromAnyPhase() {
            return finishedByOwnAccount(last)
        }
        observers?.didChange(key)
        if key == .isReady {
            readinessMayHaveChanged()
            askOutsideQueue()
        }
    }

    // MARK: The end

    /// A subclass has said that `isFinished` is true now. Only its first announcement comes here (contract C11).
    private func finishedByOwnAccount(_ last: OperationState.Word) {
        conclude(last, on: nil) {
            observers?.didChange(.isFinished)
        } leave: {
            withdraw(last)
        }
    }

    /// Gives the place in the queue back, and the slot if there is one, whatever its thread still does in `start`
    /// (contract C6). One that was being filed is withdrawn on behalf of the thread that files it; one in a runner's hand,
    /// or not yet started, leaves with its runner.
    private func withdraw(_ last: OperationState.Word) {
        switch last.phase {
        case .enqueued, .waiting, .ready, .filing:
            Misuse.finishWithoutStart(operation: description).report()
            if last.phase == .filing { return }
        case .dispatched, .executing:
            guard last.leavesQueueByItself else { return }
            // Another thread that runs it may just be retaining the queue: see `keptQueue`.
            if last.has(OperationState.Word.runsElsewhere) { lock.withLock {} }
        case .idle, .claimed, .finished:
            return
        }
        queue?.takeUnretainedValue().withdraw(self)
    }

    /// The queue, kept alive for a thread that runs the operation and may go on after an announced end; nil if there is
    /// none, or the end has come already. Called inside the engine's `start`.
    ///
    /// Without an end nothing takes the operation out of its queue, so that lives. An end that comes after the look is
    /// followed by the lock, before the operation is withdrawn.
    func keptQueue() -> OperationQueue? {
        lock.withLock { state.load().isFinished ? nil : core?.takeUnretainedValue().liveOwner }
    }

    // MARK: Readiness

    /// Asks an overridden `isReady` of an operation in no queue, which may start itself then (contract F8). With no lock
    /// held.
    func askOutsideQueue() {
        if state.load().phase == .idle, MethodOverride.isReady.isPresent(in: self) { _ = isReady }
    }

    /// Sees to it that the end of the last dependency asks an overridden `isReady`, and says whether there is one to ask.
    /// Before the dependency is linked. Only the first one looks for the override.
    @inline(__always)
    func isToBeAskedOutsideQueue() -> Bool {
        let word = state.load()
        guard word.phase == .idle else { return false }
        if word.has(OperationState.Word.hasOwnReadiness) { return true }
        guard dependencyEdges.first == nil, MethodOverride.isReady.isPresent(in: self) else { return false }
        _ = state.observers(orMake: { makeObserverList() })
        state.setOwnReadiness()
        return true
    }

    /// What an overridden `isReady` answers to a start by hand; nil, unasked, if another start is asking, perhaps the one
    /// that calls from inside of it: two starts would go on for ever.
    @inline(never)
    func askForStart() -> Bool? {
        guard state.beginStartsQuestion() else { return nil }
        defer { state.endStartsQuestion() }
        return isReady
    }

    /// What an overridden `isReady` answers may be different from now on.
    func readinessMayHaveChanged() {
        if state.announceReadiness() == .file { fileWithQueue() }
    }

    /// Puts the operation into its queue's ready list, or among the waiting ones. Called, with no lock held, by the one
    /// thread whose transition brought the operation into the phase `filing`.
    ///
    /// - Parameter becameReady: whether that transition made it ready, for the trace. An overridden `isReady` is asked.
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
            // An event that comes after the question has begun makes the answer out of date: then it is asked again.
            if queue.file(self, isReady) { return }
        }
    }

    /// Asked by the worker that has chosen the operation, before it starts it (contract F5). False if the operation
    /// was given back to its queue.
    func isStillReady(in queue: OperationHost) -> Bool {
        if !state.load().has(OperationState.Word.hasOwnReadiness) { return true }
        while true {
            // One that has ended meanwhile cannot be given back.
            if askWhetherReady() || state.load().isFinished { return true }
            if queue.unchoose(self) { return false }
        }
    }

    private func askWhetherReady() -> Bool {
        state.beginAsking()
        return isReady
    }
}

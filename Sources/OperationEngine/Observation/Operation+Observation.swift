/// Operations can be observed as with Foundation's key-value observing on Apple's platforms.
///
/// It is a protocol so that a handler gets the operation with its static type. Only `Operation` and its subclasses
/// conform.
public protocol ObservableOperation: Operation {}

extension Operation: ObservableOperation {}

extension ObservableOperation {
    /// Calls `changeHandler` whenever the property changes, on the thread that changes it, until the returned token is
    /// released or invalidated (contract D).
    ///
    /// The observable properties are `isCancelled`, `isAsynchronous`, `isExecuting`, `isFinished`, `isReady`,
    /// `dependencies`, `queuePriority` and `completionBlock`. Another key path is a `Misuse`, and its handler is never
    /// called. Read the values. Do not infer them from the order of notifications of several operations (D9).
    ///
    /// If the property changes while an observation begins, the handler either is notified of the change or finds the
    /// new value through `initial` (D18).
    public func observe<Value>(
        _ keyPath: KeyPath<Operation, Value>, options: ObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, ObservedChange<Value>) -> Void
    ) -> Observation {
        guard let key = Operation.observable.key(of: keyPath) else {
            Misuse.notObservable(keyPath: String(describing: keyPath)).report()
            return Observation(nil)
        }
        let list = state.observers(orMake: { makeObserverList() })
        let entry = HandlerEntry<Operation, Self, Value>(in: list, key: key, options: options, changeHandler)
        list.add(entry)
        // The flag is set after the entry is added. A transition that sees the flag finds the entry. A transition that
        // does not see it came before, and `initial` reads its value now.
        state.setHasObservers()
        if options.contains(.initial) {
            let new = options.contains(.new) ? Operation.observable.read(key, of: self) : nil
            entry.deliver(self, old: nil, new: new, isPrior: false)
        }
        return Observation(entry)
    }
}

/// The observers of an operation, by its state: see `OperationState.observerList`.
extension OperationState {
    /// The observers; nil if there were never any. Then it costs one load (contract D21).
    @inline(__always)
    var observers: ObserverList<Operation>? { isObserved ? existingObservers : nil }

    /// The list, even if there are no observers in it.
    @inline(never)
    var existingObservers: ObserverList<Operation>? {
        // Acquiring: pairs with the exchange that set it.
        observerList.load(ordering: .acquiring).map {
            Unmanaged<ObserverList<Operation>>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// The observer list, made by `make` if there is none.
    func observers(orMake make: () -> ObserverList<Operation>) -> ObserverList<Operation> {
        if let existingObservers { return existingObservers }
        let new = Unmanaged.passRetained(make())
        let (exchanged, existing) = observerList.compareExchange(
            expected: nil, desired: new.toOpaque(), ordering: .acquiringAndReleasing)
        if exchanged { return new.takeUnretainedValue() }
        new.release()
        return Unmanaged.fromOpaque(existing.unsafelyUnwrapped).takeUnretainedValue()
    }

    /// Called in the operation's deinit, after its edges are unlinked.
    func releaseObservers() {
        if let list = observerList.load(ordering: .acquiring) {
            Unmanaged<ObserverList<Operation>>.fromOpaque(list).release()
        }
    }
}

extension Operation {
    static let observable = ObservedProperties<Operation>([
        .init(.isCancelled, ["isCancelled", "cancelled"], \.isCancelled),
        .init(
            .isAsynchronous, ["isAsynchronous", "asynchronous", "isConcurrent", "concurrent"], \.isAsynchronous,
            \.isConcurrent),
        .init(.isExecuting, ["isExecuting", "executing"], \.isExecuting),
        .init(.isFinished, ["isFinished", "finished"], \.isFinished),
        .init(.isReady, ["isReady", "ready"], \.isReady),
        .init(.dependencies, ["dependencies"], \.dependencies),
        .init(.queuePriority, ["queuePriority"], \.queuePriority),
        .init(.completionBlock, ["completionBlock"], \.completionBlock),
    ])

    @inline(__always)
    var observers: ObserverList<Operation>? { state.observers }

    func makeObserverList() -> ObserverList<Operation> { ObserverList(self, Self.observable) }

    // Called only if `state.isObserved`. Not inlined, so that `start` and `finish` stay small.

    @inline(never)
    func announceStart() {
        if !isCancelled, !state.load().isFinished { observers?.willChange(.isExecuting) }
    }

    @inline(never)
    func resolveStart(hasBegun: Bool) { observers?.resolveChange(.isExecuting, hasHappened: hasBegun) }

    @inline(never)
    func announceFinish(from phase: OperationState.Phase) {
        observers?.willChange(.isFinished)
        if phase == .executing { observers?.willChange(.isExecuting) }
    }

    @inline(never)
    func forgetFinish(from phase: OperationState.Phase) {
        observers?.forgetChange(.isFinished)
        if phase == .executing { observers?.forgetChange(.isExecuting) }
    }

    /// Notifies the observers of the finish: the values have changed together, and the dependents are ready (contract
    /// D7–D9).
    @inline(never)
    func tellFinish(_ last: OperationState.Word, by announcer: Announcer) {
        if last.phase == .executing, announcer == .engine || !announcesExecution {
            observers?.didChange(.isExecuting)
        }
        observers?.didChange(.isFinished, by: announcer)
    }
}

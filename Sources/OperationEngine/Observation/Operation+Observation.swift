/// What can be observed as with Foundation's key-value observing on Apple's platforms: operations.
///
/// A protocol, so that a handler gets the operation as what it is. Only `Operation` and its subclasses conform.
public protocol ObservableOperation: Operation {}

extension Operation: ObservableOperation {}

extension ObservableOperation {
    /// Calls `changeHandler` whenever the property changes, on the thread that changes it, until the returned token is
    /// released or invalidated (contract D).
    ///
    /// Observable are `isCancelled`, `isAsynchronous`, `isExecuting`, `isFinished`, `isReady`, `dependencies`,
    /// `queuePriority` and `completionBlock`; another key path is a `Misuse`, and its handler is never called. Read
    /// the values rather than infer them from the order of notifications of several operations (D9).
    ///
    /// An observation that begins while the property changes hears of the change, or finds the new value through
    /// `initial` (D18).
    public func observe<Value>(
        _ keyPath: KeyPath<Operation, Value>, options: ObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, ObservedChange<Value>) -> Void
    ) -> Observation {
        guard let key = ObservedKey(keyPath) else {
            Misuse.notObservable(keyPath: String(describing: keyPath)).report()
            return Observation {}
        }
        let list = state.observers(orMake: { ObserverList(object: self, read: ObservedKey.value(of:_:)) })
        let entry = ObserverList<Operation>.Entry(key: key, options: options) { operation, old, new, isPrior in
            changeHandler(
                unsafeDowncast(operation, to: Self.self), ObservedChange(old: old, new: new, isPrior: isPrior))
        }
        list.add(entry)
        // The flag after the entry: a transition that sees the flag finds the entry; one that does not has left the
        // value that `initial` reads now.
        state.setHasObservers()
        if options.contains(.initial) {
            entry.deliver(self, nil, options.contains(.new) ? ObservedKey.value(of: self, key) : nil, false)
        }
        return Observation { list.remove(entry) }
    }
}

extension Operation {
    @inline(__always)
    var observers: ObserverList<Operation>? { state.observers }
}

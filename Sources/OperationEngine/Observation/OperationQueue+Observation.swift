/// What can be observed of queues: a protocol, so that a handler gets the queue as what it is. Only `OperationQueue`
/// and its subclasses conform.
public protocol ObservableQueue: OperationQueue {}

extension OperationQueue: ObservableQueue {}

extension ObservableQueue {
    /// Calls `changeHandler` whenever the property changes, on the thread that changes it, until the returned token is
    /// released or invalidated.
    ///
    /// Observable are `operations`, `operationCount`, `maxConcurrentOperationCount`, `isSuspended` and `name` (contract
    /// D23); another key path is a `Misuse`. A batch that is added is one change. An operation that leaves is one too,
    /// and is missing in the old value of `operations` already.
    public func observe<Value>(
        _ keyPath: KeyPath<OperationQueue, Value>, options: ObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, ObservedChange<Value>) -> Void
    ) -> Observation {
        guard let key = ObservedKey(keyPath) else {
            Misuse.notObservable(keyPath: String(describing: keyPath)).report()
            return Observation(nil)
        }
        let list = core.observers(orMake: { ObserverList(object: self, read: ObservedKey.value(of:_:)) })
        let entry = HandlerEntry<OperationQueue, Self, Value>(in: list, key: key, options: options, changeHandler)
        list.add(entry)
        // The flag after the entry, as for operations.
        core.setHasObservers()
        if options.contains(.initial) {
            let new = options.contains(.new) ? ObservedKey.value(of: self, key) : nil
            entry.deliver(self, old: nil, new: new, isPrior: false)
        }
        return Observation(entry)
    }
}

extension QueueCore {
    /// Makes a change between a `willChange` and a `didChange` of the given properties, if there are observers.
    @inline(__always)
    func announcing<Result>(_ keys: @autoclosure () -> [ObservedKey], change: () -> Result) -> Result {
        if hasObservers { announce(keys()) }
        let result = change()
        // Asked for anew: one that came in between may have found the old value through `initial` (contract D18).
        if hasObservers { settle(keys()) }
        return result
    }

    /// As `announcing`, for a change that does not happen where `change` says that it is a misuse.
    @inline(__always)
    func announcing(_ keys: @autoclosure () -> [ObservedKey], change: () -> Misuse?) -> Misuse? {
        if hasObservers { announce(keys()) }
        let misuse = change()
        if hasObservers { if misuse == nil { settle(keys()) } else { forget(keys()) } }
        return misuse
    }

    /// A closure without an object was added or has ended. The queue had no observers just before; one that came
    /// meanwhile may have found the old value through `initial` (contract D18).
    @inline(__always)
    func settleIfObserved() {
        if hasObservers { settle([.operations, .operationCount]) }
    }

    @inline(never)
    private func announce(_ keys: [ObservedKey]) {
        guard let observers else { return }
        for key in keys { observers.willChange(key) }
    }

    @inline(never)
    private func forget(_ keys: [ObservedKey]) {
        guard let observers else { return }
        for key in keys { observers.forgetChange(key) }
    }

    @inline(never)
    private func settle(_ keys: [ObservedKey]) {
        guard let observers else { return }
        for key in keys.reversed() { observers.didChange(key) }
    }
}

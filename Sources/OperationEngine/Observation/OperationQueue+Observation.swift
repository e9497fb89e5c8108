/// Queues can be observed. It is a protocol so that a handler gets the queue with its static type. Only
/// `OperationQueue` and its subclasses conform.
public protocol ObservableQueue: OperationQueue {}

extension OperationQueue: ObservableQueue {}

extension ObservableQueue {
    /// Calls `changeHandler` whenever the property changes, on the thread that changes it, until the returned token is
    /// released or invalidated.
    ///
    /// The observable properties are `operations`, `operationCount`, `maxConcurrentOperationCount`, `isSuspended` and
    /// `name` (contract D23). Another key path is a `Misuse`. A batch that is added is one change. An operation that
    /// leaves is one change too, and the old value of `operations` no longer contains it. Changes of several threads
    /// overlap: the old and the new value of one may span others, so they form no chain.
    public func observe<Value>(
        _ keyPath: KeyPath<OperationQueue, Value>, options: ObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, ObservedChange<Value>) -> Void
    ) -> Observation {
        guard let key = OperationQueue.observable.key(of: keyPath) else {
            Misuse.notObservable(keyPath: String(describing: keyPath)).report()
            return Observation(nil)
        }
        let list = core.observers(orMake: { ObserverList(self, OperationQueue.observable) })
        let entry = HandlerEntry<OperationQueue, Self, Value>(in: list, key: key, options: options, changeHandler)
        list.add(entry)
        // The flag is set after the entry is added, as for operations.
        core.setHasObservers()
        if options.contains(.initial) {
            let new = options.contains(.new) ? OperationQueue.observable.read(key, of: self) : nil
            entry.deliver(self, old: nil, new: new, isPrior: false)
        }
        return Observation(entry)
    }
}

extension OperationQueue {
    static let observable = ObservedProperties<OperationQueue>([
        .init(.operations, [], \.operations),
        .init(.operationCount, [], \.operationCount),
        .init(.maxConcurrentOperationCount, [], \.maxConcurrentOperationCount),
        .init(.isSuspended, [], \.isSuspended),
        .init(.queueName, [], \.name),
    ])
}

extension QueueCore {
    /// Makes a change between a `willChange` and a `didChange` of the given properties, if there are observers.
    @inline(__always)
    func announcing<Result>(_ keys: @autoclosure () -> [ObservedKey], change: () -> Result) -> Result {
        if hasObservers { announce(keys()) }
        let result = change()
        // Checked again: an observer that came in between may have found the old value through `initial` (contract
        // D18).
        if hasObservers { tell(keys()) }
        return result
    }

    /// As `announcing`, for a change that does not happen if `change` returns a misuse.
    @inline(__always)
    func announcing(_ keys: @autoclosure () -> [ObservedKey], change: () -> Misuse?) -> Misuse? {
        if hasObservers { announce(keys()) }
        let misuse = change()
        if hasObservers { if misuse == nil { tell(keys()) } else { forget(keys()) } }
        return misuse
    }

    /// A closure without an object was added or has ended. The queue had no observers just before. An observer that has
    /// come since may have found the old value through `initial` (contract D18).
    @inline(__always)
    func tellIfObserved() {
        if hasObservers { tell([.operations, .operationCount]) }
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
    private func tell(_ keys: [ObservedKey]) {
        guard let observers else { return }
        for key in keys.reversed() { observers.didChange(key) }
    }
}

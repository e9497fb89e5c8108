/// The properties that can be observed, of operations (contract D1) and of queues (D23).
enum ObservedKey: Hashable, Sendable {
    case isCancelled
    case isAsynchronous
    case isExecuting
    case isFinished
    case isReady
    case dependencies
    case queuePriority
    case completionBlock

    case operations
    case operationCount
    case maxConcurrentOperationCount
    case isSuspended
    case queueName
}

/// The properties of one class that can be observed.
final class ObservedProperties<Object: AnyObject>: @unchecked Sendable {
    struct Property {
        let key: ObservedKey
        /// For announcements by name (contract D2).
        let names: [String]
        let keyPaths: [PartialKeyPath<Object>]

        init(_ key: ObservedKey, _ names: [String] = [], _ keyPaths: PartialKeyPath<Object>...) {
            (self.key, self.names, self.keyPaths) = (key, names, keyPaths)
        }
    }

    private let all: [Property]
    private let lock = FutexLock()
    /// The key paths that were used before. Comparing two key paths takes a microsecond or more. But a key path literal
    /// is the same object each time, so most are found by identity. Guarded by `lock`. Kept alive here, so no other
    /// object gets the address of one.
    private var known: [(keyPath: AnyKeyPath, key: ObservedKey)] = []
    /// A bound, because a program may make any number of key paths at run time.
    private static var limit: Int { 64 }

    init(_ all: [Property]) { self.all = all }

    func key(named name: String) -> ObservedKey? { all.first { $0.names.contains(name) }?.key }

    func key(of keyPath: PartialKeyPath<Object>) -> ObservedKey? {
        let found = lock.withLock { known.first { $0.keyPath === keyPath }?.key }
        if let found { return found }
        guard let key = all.first(where: { $0.keyPaths.contains(keyPath) })?.key else { return nil }
        lock.withLock {
            if known.count < Self.limit { known.append((keyPath, key)) }
        }
        return key
    }

    /// The value for an observer, read through the getter that a subclass may override (contract D22).
    func read(_ key: ObservedKey, of object: Object) -> Any {
        object[keyPath: all.first { $0.key == key }.unsafelyUnwrapped.keyPaths[0]]
    }
}

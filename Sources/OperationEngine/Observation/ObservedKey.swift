import CLinux

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

    /// From the name of an operation's property, in either spelling (contract D2).
    init?(operationKey name: String) {
        switch name {
        case "isCancelled", "cancelled": self = .isCancelled
        case "isAsynchronous", "asynchronous", "isConcurrent", "concurrent": self = .isAsynchronous
        case "isExecuting", "executing": self = .isExecuting
        case "isFinished", "finished": self = .isFinished
        case "isReady", "ready": self = .isReady
        case "dependencies": self = .dependencies
        case "queuePriority": self = .queuePriority
        case "completionBlock": self = .completionBlock
        default: return nil
        }
    }

    init?(_ keyPath: PartialKeyPath<Operation>) {
        guard let key = KnownKeyPaths.shared.key(of: keyPath, orElse: { ObservedKey(comparing: keyPath) }) else {
            return nil
        }
        self = key
    }

    private init?(comparing keyPath: PartialKeyPath<Operation>) {
        switch keyPath {
        case \.isCancelled: self = .isCancelled
        case \.isAsynchronous, \.isConcurrent: self = .isAsynchronous
        case \.isExecuting: self = .isExecuting
        case \.isFinished: self = .isFinished
        case \.isReady: self = .isReady
        case \.dependencies: self = .dependencies
        case \.queuePriority: self = .queuePriority
        case \.completionBlock: self = .completionBlock
        default: return nil
        }
    }

    init?(_ keyPath: PartialKeyPath<OperationQueue>) {
        guard let key = KnownKeyPaths.shared.key(of: keyPath, orElse: { ObservedKey(comparing: keyPath) }) else {
            return nil
        }
        self = key
    }

    private init?(comparing keyPath: PartialKeyPath<OperationQueue>) {
        switch keyPath {
        case \.operations: self = .operations
        case \.operationCount: self = .operationCount
        case \.maxConcurrentOperationCount: self = .maxConcurrentOperationCount
        case \.isSuspended: self = .isSuspended
        case \.name: self = .queueName
        default: return nil
        }
    }

    /// The value for an observer, read through the getter that a subclass may override.
    static func value(of operation: Operation, _ key: ObservedKey) -> Any {
        switch key {
        case .isCancelled: operation.isCancelled
        case .isAsynchronous: operation.isAsynchronous
        case .isExecuting: operation.isExecuting
        case .isFinished: operation.isFinished
        case .isReady: operation.isReady
        case .dependencies: operation.dependencies
        case .queuePriority: operation.queuePriority
        default: operation.completionBlock as Any
        }
    }

    static func value(of queue: OperationQueue, _ key: ObservedKey) -> Any {
        switch key {
        case .operations: queue.operations
        case .operationCount: queue.operationCount
        case .maxConcurrentOperationCount: queue.maxConcurrentOperationCount
        case .isSuspended: queue.isSuspended
        default: queue.name as Any
        }
    }

    static var currentThread: UInt { clinux_thread_self() }
}

/// The key paths that were used before. Comparing two key paths takes a microsecond or more. But a key path literal is
/// the same object each time, so most are found by identity.
final class KnownKeyPaths: @unchecked Sendable {
    static let shared = KnownKeyPaths()

    private let lock = FutexLock()
    /// Guarded by `lock`. Kept alive here, so no other object gets the address of one.
    private var known: [(keyPath: AnyKeyPath, key: ObservedKey)] = []
    /// A bound, because a program may make any number of key paths at run time.
    private static let limit = 64

    func key(of keyPath: AnyKeyPath, orElse compare: () -> ObservedKey?) -> ObservedKey? {
        let found = lock.withLock { known.first { $0.keyPath === keyPath }?.key }
        if let found { return found }
        guard let key = compare() else { return nil }
        lock.withLock {
            if known.count < Self.limit { known.append((keyPath, key)) }
        }
        return key
    }
}

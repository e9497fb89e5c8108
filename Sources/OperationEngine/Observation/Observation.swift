import Synchronization

/// What an observer wants to be told; as Foundation's `NSKeyValueObservingOptions`.
public struct ObservingOptions: OptionSet, Sendable {
    /// The options as bits, with the values of Foundation's.
    public let rawValue: UInt
    /// Options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The change carries the value after it.
    public static let new = ObservingOptions(rawValue: 1)
    /// The change carries the value before it.
    public static let old = ObservingOptions(rawValue: 2)
    /// The handler is called once at registration, with the value of that moment if `new` is asked for.
    public static let initial = ObservingOptions(rawValue: 4)
    /// The handler is called before each change too, with `isPrior` true and never a new value.
    public static let prior = ObservingOptions(rawValue: 8)
}

/// One change of an observed property; as Foundation's `NSKeyValueObservedChange`.
public struct ObservedChange<Value> {
    /// What happened to the property.
    public enum Kind: Sendable {
        /// The property was set: the only kind that operations and queues send.
        case setting
    }

    /// Always `setting`.
    public let kind = Kind.setting
    /// With the option `new`, except before the change.
    public let newValue: Value?
    /// With the option `old`.
    public let oldValue: Value?
    /// Whether the handler is called before the change.
    public let isPrior: Bool

    /// From values as the list of observers hands them on; nil are those that the observer did not ask for.
    init(old: Any?, new: Any?, isPrior: Bool) {
        // Value may be an optional: then a cast of nil itself would give a value that is nil.
        newValue = new.flatMap { $0 as? Value }
        oldValue = old.flatMap { $0 as? Value }
        self.isPrior = isPrior
    }
}

/// Keeps an observation going: it ends when the token is released or invalidated (contract D24).
public final class Observation: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends the observation: no call of the handler starts after this has returned (contract D19).
    ///
    /// A call starts when the engine, as the last thing before it calls, finds that the observation goes on. So nothing
    /// is heard of later changes, nor of one under way whose other observers are being called at this moment. A call that
    /// has started on another thread may just be entering the handler when this returns, and is not waited for: the
    /// handler might be waiting for the invalidating thread, for a lock that it holds for instance, and then neither
    /// would go on. Who must know that no call is running has the handler take a lock of its own.
    ///
    /// Never blocks. From any thread, the handler's own calls included; idempotent.
    public func invalidate() { end() }
}

/// The observers of one object: who asked for which of its properties.
///
/// Handlers are called with no lock held (contract D20), on the thread that makes the change (D5).
final class ObserverList<Object: AnyObject & Sendable>: @unchecked Sendable {
    private let liveMark = LiveMark(.observerList)
    /// Reads the object's properties by their keys, through getters that a subclass may override (contract D22).
    typealias Reader = @Sendable (Object, ObservedKey) -> Any

    /// Weak: a finishing dependency tells an object that may be on its way to its deinit.
    private(set) weak var object: Object?
    private let read: Reader

    private let lock = FutexLock()
    // Guarded by `lock`.
    private var entries: [Entry] = []
    /// Values before the changes that are under way, by the thread that makes the change.
    private var pending: [PendingKey: [Any]] = [:]

    init(object: Object, read: @escaping Reader) {
        self.object = object
        self.read = read
    }

    // MARK: Observers

    final class Entry: Sendable {
        private let liveMark = LiveMark(.observation)
        let key: ObservedKey
        let options: ObservingOptions
        let isActive = Atomic<Bool>(true)
        let deliver: @Sendable (Object, _ old: Any?, _ new: Any?, _ isPrior: Bool) -> Void

        init(
            key: ObservedKey, options: ObservingOptions,
            deliver: @escaping @Sendable (Object, _ old: Any?, _ new: Any?, _ isPrior: Bool) -> Void
        ) {
            self.key = key
            self.options = options
            self.deliver = deliver
        }
    }

    func add(_ entry: Entry) { lock.withLock { entries.append(entry) } }

    func remove(_ entry: Entry) {
        // Seen by deliveries that took their copy of the list before.
        entry.isActive.store(false, ordering: .sequentiallyConsistent)
        lock.lock()
        let kept = entries.filter { $0 !== entry }
        let old = entries
        entries = kept
        lock.unlock()
        // Released outside the lock: a handler's captures may run code of their own.
        withExtendedLifetime(old) {}
    }

    // MARK: Changes

    /// A property is going to change: keeps its value and calls those who asked to hear before.
    func willChange(_ key: ObservedKey) {
        guard let object, let observers = observers(of: key) else { return }
        let old = read(object, key)
        lock.withLock { pending[PendingKey(key), default: []].append(old) }
        for entry in observers where entry.options.contains(.prior) {
            tell(entry, object, old: old, new: nil, isPrior: true)
        }
    }

    /// A property has changed: calls all its observers. Without a `willChange` before it, as when the first observer
    /// came in between, the old value of a state is the contrary of the new one.
    func didChange(_ key: ObservedKey) {
        // Taken in any case: those who heard of the `willChange` may have left.
        let before = takePending(key)
        guard let object, let observers = observers(of: key) else { return }
        let new = read(object, key)
        let old = before ?? (new as? Bool).map { !$0 as Any }
        for entry in observers { tell(entry, object, old: old, new: new, isPrior: false) }
    }

    /// The change has happened, or does not happen after all.
    func settleChange(_ key: ObservedKey, hasHappened: Bool) {
        if hasHappened { didChange(key) } else { forgetChange(key) }
    }

    /// The change that was announced does not happen.
    func forgetChange(_ key: ObservedKey) { _ = takePending(key) }

    private func takePending(_ key: ObservedKey) -> Any? {
        lock.withLock {
            let place = PendingKey(key)
            let old = pending[place]?.popLast()
            if pending[place]?.isEmpty == true { pending[place] = nil }
            return old
        }
    }

    private func observers(of key: ObservedKey) -> [Entry]? {
        let found = lock.withLock { entries.filter { $0.key == key } }
        return found.isEmpty ? nil : found
    }

    /// Calls a handler, unless its observation has ended. The look is where the call starts: see `Observation.invalidate`.
    private func tell(_ entry: Entry, _ object: Object, old: Any?, new: Any?, isPrior: Bool) {
        guard entry.isActive.load(ordering: .sequentiallyConsistent) else { return }
        entry.deliver(
            object, entry.options.contains(.old) ? old : nil, entry.options.contains(.new) ? new : nil, isPrior)
    }

    private struct PendingKey: Hashable {
        let key: ObservedKey
        let thread: UInt

        init(_ key: ObservedKey) {
            self.key = key
            thread = ObservedKey.currentThread
        }
    }
}

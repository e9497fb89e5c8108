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
    private let entry: (any ObserverEntry)?

    /// With nil for what was refused.
    init(_ entry: (any ObserverEntry)?) { self.entry = entry }

    deinit { end() }

    private func end() { entry?.end() }

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

/// An observer's place in a list, for its token.
protocol ObserverEntry: AnyObject, Sendable {
    func end()
}

/// The observers of one object: who asked for which of its properties.
///
/// Handlers are called with no lock held (contract D20), on the thread that makes the change (D5). Values are read if an
/// observer asked for them, and not before a change that nobody wants to hear of in advance or with its old value.
final class ObserverList<Object: AnyObject & Sendable>: @unchecked Sendable {
    private let liveMark = LiveMark(.observerList)
    /// Reads the object's properties by their keys, through getters that a subclass may override (contract D22).
    typealias Reader = @Sendable (Object, ObservedKey) -> Any

    /// Weak: a finishing dependency tells an object that may be on its way to its deinit.
    private(set) weak var object: Object?
    private let read: Reader

    private let lock = FutexLock()
    // Guarded by `lock`.
    @exclusivity(unchecked) private var entries = Entries()
    /// Values before the changes that are under way.
    @exclusivity(unchecked) private var pending: [PendingChange] = []

    init(object: Object, read: @escaping Reader) {
        self.object = object
        self.read = read
    }

    // MARK: Observers

    /// What is kept of an observer; a subclass has its handler.
    class Entry: ObserverEntry, @unchecked Sendable {
        private let liveMark = LiveMark(.observation)
        let key: ObservedKey
        let options: ObservingOptions
        let isActive = Atomic<Bool>(true)
        /// The list has the entry, and the entry the list, until the token ends it.
        private let list: ObserverList
        /// The index among the list's `others`, if it is there. Guarded by the list's lock.
        @exclusivity(unchecked) fileprivate final var place = 0

        init(in list: ObserverList, key: ObservedKey, options: ObservingOptions) {
            self.list = list
            self.key = key
            self.options = options
        }

        func deliver(_ object: Object, old: Any?, new: Any?, isPrior: Bool) {}

        final func end() { list.remove(self) }
    }

    /// In the order of their coming. Most objects have one observer: the first takes no array.
    ///
    /// Who leaves the array leaves a gap. The gaps are closed as soon as they are the greater part, so that coming and
    /// going take constant time on average. A copy that a delivery goes through is copied on the next change, once: that
    /// costs what the delivery does.
    private struct Entries {
        private var first: Entry?
        private var others: [Entry?] = []
        private var gaps = 0

        mutating func append(_ entry: Entry) {
            if first == nil, others.isEmpty {
                first = entry
            } else {
                entry.place = others.count
                others.append(entry)
            }
        }

        mutating func remove(_ entry: Entry) {
            if first === entry {
                first = nil
            } else if entry.place < others.count, others[entry.place] === entry {
                others[entry.place] = nil
                gaps += 1
                if gaps > others.count / 2 { closeGaps() }
            }
        }

        private mutating func closeGaps() {
            others.removeAll { $0 == nil }
            gaps = 0
            for (place, entry) in others.enumerated() { entry?.place = place }
        }

        func contains(_ key: ObservedKey, where isMeant: (ObservingOptions) -> Bool) -> Bool {
            if let first, first.key == key, isMeant(first.options) { return true }
            return others.contains { entry in
                guard let entry else { return false }
                return entry.key == key && isMeant(entry.options)
            }
        }

        func forEach(of key: ObservedKey, _ body: (Entry) -> Void) {
            if let first, first.key == key { body(first) }
            for case let entry? in others where entry.key == key { body(entry) }
        }
    }

    func add(_ entry: Entry) { lock.withLock { entries.append(entry) } }

    private func remove(_ entry: Entry) {
        // Seen by deliveries that took their copy of the list before.
        entry.isActive.store(false, ordering: .sequentiallyConsistent)
        // The token has the entry until this returns: no handler, whose captures may run code of their own, is released
        // under the lock.
        lock.withLock { entries.remove(entry) }
    }

    // MARK: Changes

    /// A property is going to change: keeps its value and calls those who asked to hear before.
    func willChange(_ key: ObservedKey) {
        guard let observers = observers(of: key, where: { !$0.isDisjoint(with: [.old, .prior]) }), let object else {
            return
        }
        let old = read(object, key)
        lock.withLock { pending.append(PendingChange(key: key, thread: ObservedKey.currentThread, old: old)) }
        observers.forEach(of: key) { entry in
            if entry.options.contains(.prior) { tell(entry, object, old: old, new: nil, isPrior: true) }
        }
    }

    /// A property has changed: calls all its observers. Without a `willChange` before it, as when the first observer
    /// came in between, the old value of a state is the contrary of the new one.
    func didChange(_ key: ObservedKey) {
        // Taken in any case: those who heard of the `willChange` may have left.
        let before = takePending(key)
        guard let observers = observers(of: key, where: { _ in true }), let object else { return }
        let asked = observers.contains(key) { !$0.isDisjoint(with: [.old, .new]) }
        let new = asked ? read(object, key) : nil
        let old = before ?? (new as? Bool).map { !$0 as Any }
        observers.forEach(of: key) { tell($0, object, old: old, new: new, isPrior: false) }
    }

    /// The change has happened, or does not happen after all.
    func settleChange(_ key: ObservedKey, hasHappened: Bool) {
        if hasHappened { didChange(key) } else { forgetChange(key) }
    }

    /// The change that was announced does not happen.
    func forgetChange(_ key: ObservedKey) { _ = takePending(key) }

    private func takePending(_ key: ObservedKey) -> Any? {
        lock.withLock {
            guard !pending.isEmpty else { return nil }
            let thread = ObservedKey.currentThread
            guard let place = pending.lastIndex(where: { $0.key == key && $0.thread == thread }) else { return nil }
            return pending.remove(at: place).old
        }
    }

    /// A copy of the list, if somebody in it observes the key with options that are meant.
    private func observers(of key: ObservedKey, where isMeant: (ObservingOptions) -> Bool) -> Entries? {
        lock.withLock { entries.contains(key, where: isMeant) ? entries : nil }
    }

    /// Calls a handler, unless its observation has ended. The look is where the call starts: see `Observation.invalidate`.
    private func tell(_ entry: Entry, _ object: Object, old: Any?, new: Any?, isPrior: Bool) {
        guard entry.isActive.load(ordering: .sequentiallyConsistent) else { return }
        entry.deliver(
            object, old: entry.options.contains(.old) ? old : nil, new: entry.options.contains(.new) ? new : nil,
            isPrior: isPrior)
    }

    /// A change that is under way, on the thread that makes it.
    private struct PendingChange {
        let key: ObservedKey
        let thread: UInt
        /// The value before it.
        let old: Any
    }
}

/// An observer with its handler, to which the object is what the observation was asked of, and the value what it is.
final class HandlerEntry<Object: AnyObject & Sendable, Observed: AnyObject, Value>: ObserverList<Object>.Entry,
    @unchecked Sendable
{
    typealias Handler = @Sendable (Observed, ObservedChange<Value>) -> Void

    private let handler: Handler

    init(
        in list: ObserverList<Object>, key: ObservedKey, options: ObservingOptions, _ handler: @escaping Handler
    ) {
        self.handler = handler
        super.init(in: list, key: key, options: options)
    }

    override func deliver(_ object: Object, old: Any?, new: Any?, isPrior: Bool) {
        // Only the object that `observe` was called on comes here.
        handler(unsafeDowncast(object, to: Observed.self), ObservedChange(old: old, new: new, isPrior: isPrior))
    }
}

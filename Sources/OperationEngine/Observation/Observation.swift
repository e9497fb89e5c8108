import CLinux
import Synchronization

/// The notifications that an observer gets, as Foundation's `NSKeyValueObservingOptions`.
public struct ObservingOptions: OptionSet, Sendable {
    /// The options as bits, with Foundation's values.
    public let rawValue: UInt
    /// Options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The change has the new value.
    public static let new = ObservingOptions(rawValue: 1)
    /// The change has the old value.
    public static let old = ObservingOptions(rawValue: 2)
    /// The handler is called once at registration, with the current value if `new` is requested.
    public static let initial = ObservingOptions(rawValue: 4)
    /// The handler is also called before each change, with `isPrior` true and without a new value.
    public static let prior = ObservingOptions(rawValue: 8)
}

/// One change of an observed property, as Foundation's `NSKeyValueObservedChange`.
public struct ObservedChange<Value> {
    /// The kind of change.
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

    /// Takes the values from the observer list. A value is nil if the observer did not request it.
    init(old: Any?, new: Any?, isPrior: Bool) {
        // `Value` may be an optional. Then casting nil itself would give a value that is nil.
        newValue = new.flatMap { $0 as? Value }
        oldValue = old.flatMap { $0 as? Value }
        self.isPrior = isPrior
    }
}

/// A token for an observation, which ends when the token is released or invalidated (contract D24).
public final class Observation: Sendable {
    private let entry: (any ObserverEntry)?

    /// Nil for an observation that was refused.
    init(_ entry: (any ObserverEntry)?) { self.entry = entry }

    deinit { end() }

    private func end() { entry?.end() }

    /// Ends the observation. No call of the handler starts after this has returned (contract D19).
    ///
    /// A call starts when the engine checks, just before it calls, that the observation is active. So the handler is
    /// not called for later changes, nor for a change under way whose other observers are being called at this moment.
    /// A call that has started on another thread may be entering the handler when this returns. This does not wait for
    /// it: the handler might wait for the invalidating thread, for example for a lock that it holds, and both would
    /// wait forever. If you have to know that no call is running, take a lock in the handler.
    ///
    /// Never blocks. From any thread, also from inside the handler. Idempotent.
    public func invalidate() { end() }
}

/// An observer in a list, as its token sees it.
protocol ObserverEntry: AnyObject, Sendable {
    func end()
}

/// The code that announces a change.
enum Announcer {
    /// A transition of the engine, which calls both `willChange` and `didChange`, or `forgetChange`.
    case engine
    /// A subclass, whose two calls may come from different threads, and of which one may be missing.
    case subclass
}

/// The observers of one object, and the properties that they observe.
///
/// Handlers are called with no lock held (contract D20), on the thread that makes the change (D5). A value is read only
/// if an observer requested it. Before a change nothing is read unless an observer requested the old value or a prior
/// call.
final class ObserverList<Object: AnyObject & Sendable>: @unchecked Sendable {
    private let liveMark = LiveMark(.observerList)
    /// Weak: a finishing dependency notifies an object whose deinit may be about to run.
    private(set) weak var object: Object?
    private let properties: ObservedProperties<Object>

    private let lock = FutexLock()
    // Guarded by `lock`.
    @exclusivity(unchecked) private var entries = Entries()
    /// The old values of changes that are under way, in the order of their announcements.
    @exclusivity(unchecked) private var pending: [PendingChange] = []

    init(_ object: Object, _ properties: ObservedProperties<Object>) {
        self.object = object
        self.properties = properties
    }

    // MARK: Observers

    /// An observer. A subclass has the handler.
    class Entry: ObserverEntry, @unchecked Sendable {
        private let liveMark = LiveMark(.observation)
        let key: ObservedKey
        let options: ObservingOptions
        let isActive = Atomic<Bool>(true)
        /// The list retains the entry, and the entry retains the list, until the token ends the observation.
        private let list: ObserverList
        /// The index in the list's `others`, if it is there. Guarded by the list's lock.
        @exclusivity(unchecked) fileprivate final var place = 0

        init(in list: ObserverList, key: ObservedKey, options: ObservingOptions) {
            self.list = list
            self.key = key
            self.options = options
        }

        func deliver(_ object: Object, old: Any?, new: Any?, isPrior: Bool) {}

        final func end() { list.remove(self) }
    }

    /// The entries in the order in which they came. Most objects have one observer, so the first one needs no array.
    ///
    /// An entry that leaves the array leaves a gap. The gaps are closed when they are more than half of it, so adding
    /// and removing take constant time on average. A delivery iterates over a copy of the array. The next change of the
    /// list then copies it once, which costs as much as the delivery.
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
        // Deliveries that have copied the list before see this.
        entry.isActive.store(false, ordering: .sequentiallyConsistent)
        // The token retains the entry until this returns. So no handler is released under the lock, where deinits of
        // its captures might run.
        lock.withLock { entries.remove(entry) }
    }

    // MARK: Changes

    /// A property is going to change. Keeps its value, and calls the observers that requested a prior call.
    func willChange(_ key: ObservedKey, by announcer: Announcer = .engine) {
        guard let observers = observers(of: key, where: { !$0.isDisjoint(with: [.old, .prior]) }), let object else {
            return
        }
        let old = properties.read(key, of: object)
        notePending(PendingChange(key, by: announcer, old: old))
        observers.forEach(of: key) { entry in
            if entry.options.contains(.prior) { tell(entry, object, old: old, new: nil, isPrior: true) }
        }
    }

    /// A property has changed. Calls all its observers. If no `willChange` came before, because the first observer came
    /// in between, the old value of a Boolean state is the negation of the new one.
    func didChange(_ key: ObservedKey, by announcer: Announcer = .engine) {
        // Taken in any case: the observers that the `willChange` was for may have left.
        let before = takePending(key, by: announcer)
        guard let observers = observers(of: key, where: { _ in true }), let object else { return }
        let asked = observers.contains(key) { !$0.isDisjoint(with: [.old, .new]) }
        let new = asked ? properties.read(key, of: object) : nil
        let old = before ?? (new as? Bool).map { !$0 as Any }
        observers.forEach(of: key) { tell($0, object, old: old, new: new, isPrior: false) }
    }

    /// The announced change has happened, or it does not happen after all.
    func resolveChange(_ key: ObservedKey, hasHappened: Bool) {
        if hasHappened { didChange(key) } else { forgetChange(key) }
    }

    /// The announced change does not happen.
    func forgetChange(_ key: ObservedKey) { _ = takePending(key, by: .engine) }

    /// A copy of the list, if an observer in it observes the key with matching options.
    private func observers(of key: ObservedKey, where isMeant: (ObservingOptions) -> Bool) -> Entries? {
        lock.withLock { entries.contains(key, where: isMeant) ? entries : nil }
    }

    /// Calls a handler unless its observation has ended. The call starts with this check: see `Observation.invalidate`.
    private func tell(_ entry: Entry, _ object: Object, old: Any?, new: Any?, isPrior: Bool) {
        guard entry.isActive.load(ordering: .sequentiallyConsistent) else { return }
        entry.deliver(
            object, old: entry.options.contains(.old) ? old : nil, new: entry.options.contains(.new) ? new : nil,
            isPrior: isPrior)
    }
}

// MARK: - Changes under way

extension ObserverList {
    /// The old value of a change under way, from its `willChange` until its `didChange`.
    ///
    /// Many threads may change one property at once. A `didChange` takes the value that its own `willChange` has kept:
    ///
    /// - The engine's pairs are matched by key and thread, newest first. One call of the engine makes both
    ///   announcements, so they come from one thread, are nested, and leave nothing behind.
    /// - A subclass's are matched by key alone, newest first: one thread may announce that the property is going to
    ///   change, and another one that it has changed. Nested pairs get their own values. If pairs of several threads
    ///   overlap, each value is delivered once, and their order does not show which pair gets which. They never
    ///   get one of the engine's, nor the engine one of theirs.
    ///
    /// A subclass may fail to announce that a change has happened. So at most `nestingLimit` of its values are kept for
    /// a key, and the oldest one is dropped for a further one.
    fileprivate struct PendingChange {
        let key: ObservedKey
        /// The thread of a change that the engine makes. Nil for a subclass's.
        let thread: UInt?
        /// The value before the change.
        let old: Any

        init(_ key: ObservedKey, by announcer: Announcer, old: Any) {
            self.key = key
            thread = Self.thread(of: announcer)
            self.old = old
        }

        func isAlike(_ other: PendingChange) -> Bool { other.key == key && other.thread == thread }

        static func thread(of announcer: Announcer) -> UInt? { announcer == .engine ? clinux_thread_self() : nil }

        static var nestingLimit: Int { 8 }
    }

    private func notePending(_ change: PendingChange) {
        // Released after the lock: a deinit of the user's may run.
        var dropped: PendingChange?
        lock.withLock {
            if change.thread == nil, pending.count(where: change.isAlike) == PendingChange.nestingLimit {
                dropped = pending.firstIndex(where: change.isAlike).map { pending.remove(at: $0) }
            }
            pending.append(change)
        }
        withExtendedLifetime(dropped) {}
    }

    private func takePending(_ key: ObservedKey, by announcer: Announcer) -> Any? {
        lock.withLock {
            guard !pending.isEmpty else { return nil }
            let thread = PendingChange.thread(of: announcer)
            guard let place = pending.lastIndex(where: { $0.key == key && $0.thread == thread }) else { return nil }
            return pending.remove(at: place).old
        }
    }
}

/// An observer with its handler. `Observed` is the static type on which `observe` was called, and `Value` the type of
/// the property.
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

import CLinux

/// Sends receivers what happens to every operation, and what the engine's threads do (contract X4).
///
/// Any number of receivers get events of the whole process at once, each of the kinds that it was installed for. Without
/// one, an operation costs three checks of a byte, and a closure one: see <doc:Tracing>.
///
/// **Lifetime.** After `remove` has returned, no event is sent of what happens later. A thread that was about to call the
/// receiver may still do so, once, however much later. A receiver that must stop earlier has to ignore that call. The
/// receiver is kept until all calls of receivers that had begun by then have returned, and is released by the thread that
/// removes it, or by a worker of the pool.
///
/// Every member may be used from any thread.
public enum OperationTrace {
    /// Receives events.
    ///
    /// The methods are called on the thread to which the event happens, from many threads at once. They delay that
    /// thread: their time is added to the time of the operation. No lock of the engine is held during a call, but the
    /// operation may be between two states. So a receiver
    /// - may allocate, read clocks and atomics, and take its own locks, if no code calls the engine under these locks;
    /// - may read the properties of the operation;
    /// - must not change, start or wait for any operation or queue, nor wait for a thread that does.
    ///
    /// The events of one operation come in the order of `OperationStep`, each after the previous call has returned. The
    /// events of one thread come in the order of time, except `growth`, which another thread may send late. Between
    /// operations there is one promise: the call for `finished` has returned before `ready` is sent for what depended
    /// on it.
    public protocol Receiver: AnyObject, Sendable {
        /// Something happened to an operation. Does nothing unless implemented.
        func receive(_ event: OperationEvent)
        /// A thread did something. Does nothing unless implemented.
        func receive(_ event: ThreadEvent)
        /// A queue or an operation was changed. Does nothing unless implemented.
        func receive(_ event: ChangeEvent)
    }

    /// The kinds of events that a receiver gets.
    public struct Kinds: OptionSet, Sendable {
        /// A bit for each kind.
        public let rawValue: UInt8

        /// The kinds whose bits are set.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The steps of operations and closures.
        public static let operations = Kinds(rawValue: 1)
        /// The steps of threads.
        public static let threads = Kinds(rawValue: 2)
        /// Settings that programs change: limits, suspensions, names, dependencies, cancellations.
        public static let changes = Kinds(rawValue: 4)
        /// All of them.
        public static let all: Kinds = [.operations, .threads, .changes]

        /// The marks that make the engine send such events.
        fileprivate var marks: UInt8 {
            (contains(.operations) ? UInt8(clinux_mark_traced_operations) : 0)
                | (contains(.threads) ? UInt8(clinux_mark_traced_threads) : 0)
                | (contains(.changes) ? UInt8(clinux_mark_traced_changes) : 0)
        }
    }

    /// Sends the receiver these kinds of events from now on, and no others. For operations that are in a queue now, it
    /// gets what happens to them from here on.
    public static func install(_ receiver: any Receiver, for kinds: Kinds = .all) {
        installation.set(kinds, of: receiver)
    }

    /// Sends the receiver no more events.
    ///
    /// - Returns: false, with no effect, if it gets none.
    @discardableResult
    public static func remove(_ receiver: any Receiver) -> Bool {
        // Not `[]`, for which an unoptimized build looks up a type under a lock that a forked child may find held for good.
        installation.set(Kinds(rawValue: 0), of: receiver)
    }

    private static let installation = Installation()

    /// A receiver that is installed, in a list that never changes.
    private final class Installed: Sendable {
        let receiver: any Receiver
        let kinds: Kinds
        let next: Installed?

        init(_ receiver: any Receiver, _ kinds: Kinds, next: Installed?) {
            self.receiver = receiver
            self.kinds = kinds
            self.next = next
        }
    }

    /// The list of receivers, which is replaced as a whole. Lets one thread at a time do that. No event takes the lock,
    /// except to release lists.
    private final class Installation: Sendable {
        private typealias List = Unmanaged<Installed>

        private let lock = FutexLock()
        // Guarded by `lock`.
        /// Nil without a receiver. Retained, also where a forked child's events do not find it.
        private nonisolated(unsafe) var list: List?
        private nonisolated(unsafe) var readers = TraceReaders()
        /// Lists that were replaced, retained, with the threads that may use them.
        private nonisolated(unsafe) var replaced: [(list: List, readers: [TraceReader])] = []

        /// Sends the receiver events of these kinds and no others. Returns whether it got any before.
        @discardableResult
        func set(_ kinds: Kinds, of receiver: any Receiver) -> Bool {
            let (wasInstalled, unused) = lock.withLock {
                // What a forked child's parent had installed gets nothing here, and is not released here.
                if clinux_trace_receivers() == nil { list = nil }
                var all = Self.entries(of: list)
                let place = all.firstIndex { $0.receiver === receiver }
                if place == nil, kinds.isEmpty { return (false, [List]()) }
                if let place { all.remove(at: place) }
                if !kinds.isEmpty { all.insert((receiver, kinds), at: place ?? 0) }
                replace(with: all)
                // In a forked child, threads that its parent had may be inside for good.
                return (place != nil, ForkedChild.isOne ? [] : takeUnused())
            }
            for list in unused { list.release() }
            return wasInstalled
        }

        private static func entries(of list: List?) -> [(receiver: any Receiver, kinds: Kinds)] {
            var (entries, next) = ([(any Receiver, Kinds)](), list?.takeUnretainedValue())
            while let installed = next {
                entries.append((installed.receiver, installed.kinds))
                next = installed.next
            }
            return entries
        }

        /// Under the lock.
        private func replace(with all: [(receiver: any Receiver, kinds: Kinds)]) {
            let first = all.reversed().reduce(nil as Installed?) { Installed($1.receiver, $1.kinds, next: $0) }
            let kinds = all.reduce(into: Kinds()) { $0.formUnion($1.kinds) }
            let former = list
            list = first.map { .passRetained($0) }
            clinux_set_trace(list?.toOpaque(), kinds.marks)
            // A list of which the system does not say who uses it is kept for good.
            if let former, let inside = readers.awaitThoseInside() { replaced.append((former, inside)) }
        }

        /// The lists that no thread uses any more. The caller releases them without the lock, which it holds now.
        private func takeUnused() -> [List] {
            for place in replaced.indices { replaced[place].readers.removeAll { !$0.isInside } }
            let unused = replaced.filter(\.readers.isEmpty).map(\.list)
            replaced.removeAll(where: \.readers.isEmpty)
            readers.awaitOnly(replaced.flatMap(\.readers))
            return unused
        }

        /// The calling thread as a reader, from its first event on.
        @inline(never)
        func join() -> Unmanaged<TraceReader> { lock.withLock { readers.join() } }

        /// Releases lists on a worker, because a receiver's deinit may wait for what the calling thread is about to do.
        @inline(never)
        func releaseUnused() {
            // The lock may be held for good.
            if ForkedChild.isOne { return }
            let unused = lock.withLock { takeUnused() }
            if unused.isEmpty { return }
            WorkerPool.of(.normal).submit(.block { for list in unused { list.release() } })
        }
    }

    /// Calls the receivers that get such events, the latest first.
    static func forEachReceiver(of kind: Kinds, _ body: (any Receiver) -> Void) {
        let looks = (TraceReader.ofThread ?? installation.join())._withUnsafeGuaranteedRef { reader in
            reader.enter()
            var next = clinux_trace_receivers().map { Unmanaged<Installed>.fromOpaque($0) }
            while let installed = next {
                installed._withUnsafeGuaranteedRef {
                    if !$0.kinds.isDisjoint(with: kind) { body($0.receiver) }
                    next = $0.next.map { .passUnretained($0) }
                }
            }
            return reader.leave()
        }
        if looks { installation.releaseUnused() }
    }
}

extension OperationTrace.Receiver {
    /// Does nothing.
    public func receive(_ event: OperationTrace.OperationEvent) {}
    /// Does nothing.
    public func receive(_ event: OperationTrace.ThreadEvent) {}
    /// Does nothing.
    public func receive(_ event: OperationTrace.ChangeEvent) {}
}

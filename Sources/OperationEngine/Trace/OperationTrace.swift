import CLinux
import Synchronization

/// Sends receivers what happens to every operation, and what the engine's threads do (contract X4).
///
/// Any number of receivers get events of the whole process at once, each of the kinds that it was installed for. Without
/// one, an operation costs three checks of a byte, and a closure one: see <doc:Tracing>.
///
/// **Lifetime.** A receiver that was installed once is never released, and each event costs a look at it. Install the
/// same one again rather than a new one. After `remove` has returned, no event is sent of what happens later. A thread
/// that was about to call the receiver may still do so, once, however much later. A receiver that must stop earlier has
/// to ignore that call.
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
        installation.withLock { boxes in
            if clinux_trace_receivers() == nil {
                // None yet, or a forked child's first one: its parent's get nothing here.
                for box in boxes { box.kinds.store(0, ordering: .relaxed) }
            }
            if !boxes.contains(where: { $0.receiver === receiver }) {
                // Kept for good: a thread may find it now and call it after its removal.
                boxes.append(Box(receiver, next: boxes.last))
            }
            set(kinds, of: receiver, in: boxes)
        }
    }

    /// Sends the receiver no more events.
    ///
    /// - Returns: false, with no effect, if it gets none.
    @discardableResult
    public static func remove(_ receiver: any Receiver) -> Bool {
        installation.withLock { boxes in
            guard clinux_trace_receivers() != nil,
                boxes.contains(where: { $0.receiver === receiver && $0.kinds.load(ordering: .relaxed) != 0 })
            else { return false }
            set([], of: receiver, in: boxes)
            return true
        }
    }

    private static let installation = Installation()

    /// Lets one thread at a time install and remove. No event takes this lock.
    private final class Installation: Sendable {
        private let lock = FutexLock()
        /// All receivers that were ever installed. Guarded by `lock`.
        private nonisolated(unsafe) var boxes: [Box] = []

        func withLock<Result>(_ body: (inout [Box]) -> Result) -> Result { lock.withLock { body(&boxes) } }
    }

    private static func set(_ kinds: Kinds, of receiver: any Receiver, in boxes: [Box]) {
        var all = Kinds()
        for box in boxes {
            if box.receiver === receiver { box.kinds.store(kinds.rawValue, ordering: .relaxed) }
            all.formUnion(Kinds(rawValue: box.kinds.load(ordering: .relaxed)))
        }
        clinux_set_trace(boxes.last.map { Unmanaged.passUnretained($0).toOpaque() }, all.marks)
    }

    /// A receiver, in a list that only grows at its beginning. It is never released, so a caller need not retain it.
    private final class Box: Sendable {
        let receiver: any Receiver
        let next: Box?
        /// The kinds that it gets, a `Kinds`. Written by the holder of the installation's lock. Relaxed: a thread that
        /// sees it late sends one event more or less. What was written before the installation, a thread sees that has
        /// found the list; of a receiver that is installed again, it is the receiver's own matter.
        let kinds = Atomic<UInt8>(0)

        init(_ receiver: any Receiver, next: Box?) {
            self.receiver = receiver
            self.next = next
        }
    }

    /// Calls the receivers that get such events, the latest first.
    static func forEachReceiver(of kind: Kinds, _ body: (any Receiver) -> Void) {
        var next = clinux_trace_receivers().map { Unmanaged<Box>.fromOpaque($0) }
        while let box = next {
            box._withUnsafeGuaranteedRef {
                if $0.kinds.load(ordering: .relaxed) & kind.rawValue != 0 { body($0.receiver) }
                next = $0.next.map { .passUnretained($0) }
            }
        }
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

import CLinux
import Synchronization

/// Sends a receiver what happens to every operation, and what the engine's threads do (contract X4).
///
/// There is one receiver at a time, for the whole process. Without one, an operation costs three checks of a byte, and
/// a closure none: see <doc:Tracing>.
///
/// **Lifetime.** A receiver that was installed once is never released. Install the same one again rather than a new
/// one. After `remove` has returned, no event is sent of what happens later. A thread that was about to call the
/// receiver may still do so, once, however much later. A receiver that must stop earlier has to ignore that call.
///
/// Every member may be used from any thread.
public enum OperationTrace {
    /// Receives events.
    ///
    /// Both methods are called on the thread to which the event happens, from many threads at once. They delay that
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
    }

    /// The kinds of events that a receiver gets.
    public struct Kinds: OptionSet, Sendable {
        /// A bit for each kind.
        public let rawValue: UInt8

        /// The kinds whose bits are set.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The steps of operations. Meanwhile closures are added as objects, because they need an identity.
        public static let operations = Kinds(rawValue: 1)
        /// The steps of threads. Closures are added as usual.
        public static let threads = Kinds(rawValue: 2)
        /// Both.
        public static let all: Kinds = [.operations, .threads]
    }

    /// Sends the receiver these kinds of events from now on. For operations that are in a queue now, it gets what
    /// happens to them from here on. For closures that were added before, it gets nothing.
    ///
    /// - Returns: false, with no effect, if another receiver is installed. The installed one may change its kinds.
    @discardableResult
    public static func install(_ receiver: any Receiver, for kinds: Kinds = .all) -> Bool {
        installation.withLock { boxes in
            if let current = Self.receiver, current !== receiver { return false }
            let box: Box
            if let former = boxes.first(where: { $0.receiver === receiver }) {
                box = former
            } else {
                box = Box(receiver)
                // Kept for good: a thread may find it now and call it after its removal.
                boxes.append(box)
            }
            clinux_set_trace(
                Unmanaged.passUnretained(box).toOpaque(), kinds.contains(.operations), kinds.contains(.threads))
            return true
        }
    }

    /// Sends the receiver no more events.
    ///
    /// - Returns: false, with no effect, if it is not the installed one.
    @discardableResult
    public static func remove(_ receiver: any Receiver) -> Bool {
        installation.withLock { _ in
            guard Self.receiver === receiver else { return false }
            clinux_set_trace(nil, false, false)
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

    /// A class reference is one word, which C can hold; an existential is two.
    private final class Box: Sendable {
        let receiver: any Receiver

        init(_ receiver: any Receiver) { self.receiver = receiver }

        /// The installed receiver. It is never released, so a caller need not retain it.
        @inline(__always)
        static var current: Unmanaged<Box>? { clinux_trace_receiver().map { Unmanaged.fromOpaque($0) } }
    }

    static var receiver: (any Receiver)? { Box.current?._withUnsafeGuaranteedRef(\.receiver) }
}

extension OperationTrace.Receiver {
    /// Does nothing.
    public func receive(_ event: OperationTrace.OperationEvent) {}
    /// Does nothing.
    public func receive(_ event: OperationTrace.ThreadEvent) {}
}

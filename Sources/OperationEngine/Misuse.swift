import CLinux
import Synchronization

/// A programming error in the use of operations and queues (contract R).
///
/// Every misuse goes to `Misuse.handler`. The default handler prints the message on standard error and traps, unless a
/// case says otherwise. If a handler returns, the offending call has no effect.
public enum Misuse: Error, Sendable, Hashable {
    /// `start` on an operation whose dependencies are unfinished (B6).
    case startNotReady
    /// `start` on an operation that is executing (B5).
    case startExecuting
    /// `start` by hand on an operation that a queue will start (B9).
    case startInQueue
    /// `start` on a finished operation; reported only if `isStrict` (B4).
    case startFinished
    /// Adding an operation that is executing (M6, B10).
    case addExecuting
    /// Adding an operation that is finished (M6, B10).
    case addFinished
    /// Adding an operation that is in a queue already, or is twice in one batch (M6).
    case addInQueue
    /// A negative concurrency limit other than the default −1 (N5).
    case negativeLimit(Int)
    /// Adding a block to a block operation that executes or is finished (K7).
    case executionBlockLate
    /// Setting a completion block on an operation that executes or is finished; reported only if `isStrict` (I9).
    case completionBlockLate
    /// An operation made to depend on itself (E17).
    case selfDependency
    /// An operation in a queue that announced its end before the queue had started it (C9). The default handler prints
    /// the message and goes on; the operation leaves the queue.
    case finishWithoutStart(operation: String)
    /// An operation that its queue has started, and whose overridden `isFinished` has been true for a second without an
    /// announcement. The queue waits for the announcement: until then the operation keeps its slot, and what depends on
    /// it waits (C3). Reported once for an operation. The default handler prints the message and returns.
    case endNotAnnounced(operation: String)
    /// Observing a property that cannot be observed (D1, D23).
    case notObservable(keyPath: String)
    /// Giving a queue another `underlyingQueue` while it holds operations (P5).
    case underlyingQueueLate
    /// `OperationQueue.runMain()` off the main thread, or inside an operation (P1). Traps even if the handler returns.
    case runMainMisplaced
    /// An operation that waits for itself to finish, from inside its own main (O5).
    case waitForSelf
    /// Adding, waiting or starting threads in a child that fork(2) made after its parent had used the engine. The child
    /// does not have the engine's threads. If another thread held a lock of the engine at the fork, the process ends
    /// with this message, whatever the handler does.
    case useAfterFork
    /// A blocking wait without a deadline that has lasted for a second and can never end, unless an operation is
    /// cancelled, a dependency removed or a limit raised (E15, O5). The default handler prints the message and returns,
    /// and the wait goes on.
    case waitNeverEnds(reason: String)
    /// The system has refused the engine a thread. The engine tries again from time to time. Meanwhile operations run
    /// on the `threads` that the engine has, and none run if that is 0. Reported once in a process, on the thread that
    /// was refused. That may be the thread that starts all the others, so the handler must not wait for operations. The
    /// default handler prints the message and returns.
    case threadRefused(threads: Int, reason: String)
    /// The engine cannot see which of its threads are blocked, because /proc cannot be read. Threads for blocked
    /// operations then come more slowly, one after another (N13). Reported once, as `threadRefused`. The default
    /// handler prints the message and returns.
    case blockingUnseen(reason: String)

    private static let settings = Settings()

    /// Called on every misuse. Set it early. The handler may be called from any thread, and from several at once.
    public static var handler: @Sendable (Misuse) -> Void {
        get { settings.handler }
        set { settings.handler = newValue }
    }

    /// Whether `startFinished` and `completionBlockLate` are misuse too. False by default.
    public static var isStrict: Bool {
        get { settings.strict.load(ordering: .relaxed) }
        set { settings.strict.store(newValue, ordering: .relaxed) }
    }

    /// Whether the engine looks for blocking waits that never end. True by default. A wait without a deadline is looked
    /// at after 1, 2, 4 … seconds: its dependencies are followed, through up to 10,000 operations. False spares that,
    /// and nothing is reported as `waitNeverEnds`.
    public static var findsEndlessWaits: Bool {
        get { settings.endlessWaits.load(ordering: .relaxed) }
        set { settings.endlessWaits.store(newValue, ordering: .relaxed) }
    }

    func report() { Self.handler(self) }

    /// Prints the message and ends the process without calling the handler.
    func trap() -> Never { fatalError("OperationEngine: \(self)") }

    @Sendable private static func printAndTrap(_ misuse: Misuse) {
        switch misuse {
        case .finishWithoutStart, .endNotAnnounced, .waitNeverEnds, .threadRefused, .blockingUnseen:
            write("\(misuse)")
        default:
            misuse.trap()
        }
    }

    /// Writes a line to standard error, in one call.
    package static func write(_ message: String) {
        var line = "OperationEngine: \(message)\n"
        _ = line.withUTF8 { clinux_write_all(2, $0.baseAddress, $0.count) }
    }

    /// The handler and the switches, all for the whole process, as the contract demands.
    private final class Settings: Sendable {
        private let lock = FutexLock()
        /// Guarded by `lock`.
        private nonisolated(unsafe) var guardedHandler: @Sendable (Misuse) -> Void = Misuse.printAndTrap
        let strict = Atomic<Bool>(false)
        let endlessWaits = Atomic<Bool>(true)

        var handler: @Sendable (Misuse) -> Void {
            get { lock.withLock { guardedHandler } }
            set {
                lock.lock()
                let old = guardedHandler
                guardedHandler = newValue
                lock.unlock()
                // Released outside the lock: deinits of its captures may run user code.
                withExtendedLifetime(old) {}
            }
        }
    }
}

extension Misuse: CustomStringConvertible {
    /// The message that the default handler prints.
    public var description: String {
        switch self {
        case .startNotReady: "start: receiver is not yet ready to execute"
        case .startExecuting: "start: receiver is already executing"
        case .startInQueue: "start: receiver is in a queue, something is trying to start it simultaneously"
        case .startFinished: "start: receiver is already finished"
        case .addExecuting: "addOperation: operation is executing and cannot be enqueued"
        case .addFinished: "addOperation: operation is finished and cannot be enqueued"
        case .addInQueue: "addOperation: operation is already enqueued on a queue"
        case .negativeLimit(let limit):
            "maxConcurrentOperationCount: \(limit) is neither a count nor defaultMaxConcurrentOperationCount"
        case .executionBlockLate:
            "addExecutionBlock: blocks cannot be added after the operation has started executing or finished"
        case .completionBlockLate: "completionBlock: set on an operation that is executing or finished"
        case .selfDependency: "addDependency: an operation cannot depend on itself"
        case .finishWithoutStart(let operation):
            "*** \(operation) went isFinished=YES without being started by the queue it is in"
        case .endNotAnnounced(let operation):
            "*** \(operation) is finished and has not announced it: call didChangeValue(forKey: \"isFinished\")"
        case .notObservable(let keyPath): "observe: \(keyPath) cannot be observed"
        case .underlyingQueueLate: "underlyingQueue: the operation queue must be empty to change it"
        case .runMainMisplaced: "runMain: only on the main thread, outside of operations"
        case .waitForSelf: "waitUntilFinished: an operation cannot wait for itself"
        case .useAfterFork: ForkedChild.message
        case .waitNeverEnds(let reason): "*** a wait that never ends: \(reason)"
        case .threadRefused(0, let reason): "*** no thread can be started, so no operation runs: \(reason)"
        case .threadRefused(let threads, let reason):
            "*** a thread could not be started; operations run on \(threads): \(reason)"
        case .blockingUnseen(let reason):
            "*** blocked operations are noticed late, since /proc/self/task cannot be read: \(reason)"
        }
    }
}

extension ForkedChild {
    /// Reports the misuse if this process is a forked child. Returns whether it is.
    static func isRefused() -> Bool {
        guard isOne else { return false }
        Misuse.useAfterFork.report()
        return true
    }
}

import CLinux
import Dispatch

extension OperationQueue {
    /// Gives the main thread to the main queue for good: runs its operations and what is in `DispatchQueue.main`, for
    /// programs without a `RunLoop`. End the process with `exit`.
    ///
    /// Call it on the main thread, outside of operations and of blocks of `DispatchQueue.main`. Elsewhere it is a
    /// `Misuse`. It cannot return, so it then traps, whatever the handler does.
    public static func runMain() -> Never {
        guard MainOperationQueue.isOnMainThread, Runner.current == nil else {
            Misuse.runMainMisplaced.report()
            fatalError("OperationEngine: \(Misuse.runMainMisplaced)")
        }
        // dispatchMain() would end this thread, and the engine cannot use Foundation's RunLoop. So this does what
        // CoreFoundation's run loop does for the main queue on Linux: Dispatch makes an eventfd readable when something
        // is enqueued, and a call on the main thread runs what is there.
        let handle = clinux_main_queue_handle()
        while true {
            clinux_drain_main_queue()
            clinux_wait_for_event(handle)
        }
    }
}

/// The queue behind `OperationQueue.main`. Its underlying queue is `DispatchQueue.main`, and its settings cannot be
/// changed.
final class MainOperationQueue: OperationQueue, @unchecked Sendable {
    static let shared = MainOperationQueue()

    private let key = DispatchSpecificKey<Bool>()

    private override init() {
        super.init()
        core.change { $0.setLimit(1) }
        _ = core.move(to: .main)
        DispatchQueue.main.setSpecific(key: key, value: true)
    }

    /// The thread with which the process began, or the thread that forked it.
    static var isOnMainThread: Bool { clinux_gettid() == clinux_getpid() }

    /// Whether the caller is on the main thread, or a block of `DispatchQueue.main` on whichever thread.
    static var isCurrent: Bool { isOnMainThread || DispatchQueue.getSpecific(key: shared.key) != nil }

    override var maxConcurrentOperationCount: Int {
        get { super.maxConcurrentOperationCount }
        set {}
    }

    override var isSuspended: Bool {
        get { super.isSuspended }
        set {}
    }

    override var name: String? {
        get { "OperationQueue.main" }
        set {}
    }

    override var qualityOfService: QualityOfService {
        get { super.qualityOfService }
        set {}
    }

    override var underlyingQueue: DispatchQueue? {
        get { super.underlyingQueue }
        set {}
    }
}

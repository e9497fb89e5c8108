import CLinux
import Dispatch
import Glibc

extension OperationQueue {
    /// The queue whose operations run on the main thread, one at a time (contract P1).
    ///
    /// It shares the main thread with `DispatchQueue.main`, and gives it up now and then for what waits there. On Linux
    /// the main thread serves both under a `RunLoop` of Foundation, or under `runMain()`. Under `dispatchMain()`, which
    /// ends the main thread, the operations still run one at a time, on threads of Dispatch, and `current` is still
    /// this queue.
    ///
    /// Its limit is 1, its name is fixed, it cannot be suspended and has no quality of service or other underlying
    /// queue: setting any of these has no effect (contract N7, P4). A `threadPriority` is not applied there. Completion
    /// blocks run on a thread of the engine. `cancelAllOperations` works as for any queue (J10).
    ///
    /// To wait on the main thread for an operation of this queue is to wait for ever (contract O5).
    public class var main: OperationQueue { MainOperationQueue.shared }

    /// The queue that runs the caller's operation; elsewhere the main queue on the main thread and for blocks of
    /// `DispatchQueue.main`, nil on other threads (contract P2). From any thread.
    ///
    /// An operation that is started by hand inside of another one does not change it (contract B15, P3), and all blocks
    /// of a `BlockOperation` find the queue of their operation. A completion block belongs to no queue.
    public class var current: OperationQueue? {
        if let queue = Runner.current?.takeUnretainedValue().queue?.liveOwner { return queue }
        let main = MainOperationQueue.shared
        return MainOperationQueue.isOnMainThread || main.isOnMainDispatchQueue ? main : nil
    }

    /// Gives the main thread to the main queue for good: runs its operations and what is in `DispatchQueue.main`, for
    /// programs without a `RunLoop`. End the process with `exit`.
    ///
    /// To be called on the main thread, outside of operations and of blocks of `DispatchQueue.main`; elsewhere it is a
    /// `Misuse`, after which, since it cannot return, it traps whatever the handler does.
    public static func runMain() -> Never {
        guard MainOperationQueue.isOnMainThread, Runner.current == nil else {
            Misuse.runMainMisplaced.report()
            fatalError("OperationEngine: \(Misuse.runMainMisplaced)")
        }
        // dispatchMain() would end this thread, and Foundation's RunLoop is out of reach. So this is the way by which
        // CoreFoundation's run loop serves the main queue on Linux: Dispatch makes an eventfd readable when something
        // is enqueued, and a call on the main thread runs what is there.
        let handle = clinux_main_queue_handle()
        while true {
            clinux_drain_main_queue()
            clinux_wait_for_event(handle)
        }
    }
}

/// The queue behind `OperationQueue.main`: one with `DispatchQueue.main` under it, whose settings cannot be changed.
private final class MainOperationQueue: OperationQueue, @unchecked Sendable {
    static let shared = MainOperationQueue()

    private let key = DispatchSpecificKey<Bool>()

    private override init() {
        super.init()
        core.change { $0.setLimit(1) }
        _ = core.move(to: .main)
        DispatchQueue.main.setSpecific(key: key, value: true)
    }

    /// The thread that the process began with, or that forked it.
    static var isOnMainThread: Bool { clinux_gettid() == getpid() }

    /// Whether the caller is a block of `DispatchQueue.main`, on whichever thread.
    var isOnMainDispatchQueue: Bool { DispatchQueue.getSpecific(key: key) != nil }

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

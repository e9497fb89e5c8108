import CLinux
import Synchronization

/// The thread that starts all the others of the engine.
///
/// A thread inherits the nice value of its creator, and a worker of a low band cannot create a normal-priority thread.
/// So the first thread that uses the engine creates this one, which takes the main thread's nice value if it may. It
/// takes the main thread's processors too, not those that its creator was confined to.
///
/// **The system may refuse a thread.** The first refusal is reported as `Misuse.threadRefused`. The engine tries again
/// after a delay that doubles from a millisecond up to a second. This thread tries as long as items wait. If it could
/// not be made either, the next thread that adds, takes or waits tries. Meanwhile the existing workers do the work. A
/// pool without workers gets the thread of an idle worker of another pool. If there is none, this thread becomes its
/// worker for good, and the next thread that needs one makes a new starter.
final class ThreadStarter: @unchecked Sendable {
    static let shared = ThreadStarter()

    private let parker = Parker()
    private let lock = FutexLock()
    // Guarded by `lock`, down to `reports`.
    /// Whether its own thread is there.
    private var isRunning = false
    /// Workers whose threads are to be started.
    private var newborn: [Worker] = []
    private var isMonitorWanted = false
    private var backoffNanoseconds: Int64 = 0
    private var hasReported = false
    /// The pending reports of the monitor, which itself has no standard error.
    private var reports: [Misuse] = []

    /// No thread is requested before this time, because one was refused; 0 if none was. Written under `lock`.
    ///
    /// Relaxed: a pool reads it under its own lock, after it has appended an item. The starter resets it, and then
    /// takes each pool's lock to look for items. So that lock orders the two. The later one sees what the earlier has
    /// written: the starter sees the item, or the pool sees that it may request a thread.
    private let refusedUntil = Atomic<Int64>(0)

    private static let backoff: ClosedRange<Int64> = 1_000_000...1_000_000_000

    private init() {}

    // MARK: On any thread

    /// Gets a worker's thread started, or informs the worker's pool that the system refused it.
    func start(_ worker: Worker) {
        lock.lock()
        newborn.append(worker)
        callAndUnlock()
    }

    /// Gets the monitor's thread started, as soon as the system gives one.
    func startMonitor() {
        lock.lock()
        isMonitorWanted = true
        callAndUnlock()
    }

    /// For the monitor. The starter's thread reports the misuse, or a waiting thread if there is no starter.
    func report(_ misuse: Misuse) {
        lock.withLock { reports.append(misuse) }
        parker.unpark()
    }

    private func reportAll() {
        let due = lock.withLock {
            defer { reports.removeAll() }
            return reports
        }
        for misuse in due { misuse.report() }
    }

    /// Under the lock, which it releases.
    private func callAndUnlock() {
        let failure = isRunning ? 0 : startOwnThread()
        if failure == 0 {
            lock.unlock()
            return parker.unpark()
        }
        let workers = takeNewborn()
        lock.unlock()
        refuse(workers, failure)
    }

    /// Under the lock.
    private func startOwnThread() -> Int32 {
        // A worker of another band would pass its nice value on.
        let isOfOtherBand = Runner.current.map { !$0._withUnsafeGuaranteedRef(\.isNormal) } ?? false
        if isOfOtherBand, clinux_thread_nice(0) != NiceBand.base { return EAGAIN }
        let failure = clinux_start_thread(
            nil,
            { _ in
                ThreadStarter.shared.run()
                return nil
            }, nil)
        isRunning = failure == 0
        return failure
    }

    /// Under the lock.
    private func takeNewborn() -> [Worker] {
        defer { newborn.removeAll() }
        return newborn
    }

    // MARK: Refusals, on any thread

    /// Whether a thread was refused, and none was started since.
    @inline(__always)
    var isShort: Bool { refusedUntil.load(ordering: .relaxed) != 0 }

    /// Whether it is too early to request another thread.
    var isRefused: Bool {
        let end = refusedUntil.load(ordering: .relaxed)
        return end != 0 && Deadline.now() < end
    }

    /// After a refusal, when the delay is over, calls workers for the items that wait. Called by threads that wait for
    /// operations and have nothing else to do.
    func tryAgain() {
        reportAll()
        if !isShort || isRefused { return }
        lock.withLock { refusedUntil.store(0, ordering: .relaxed) }
        var isAnyWaiting = false
        for pool in WorkerPool.all where pool.callAgain() { isAnyWaiting = true }
        if !isAnyWaiting { lock.withLock { backoffNanoseconds = 0 } }
    }

    /// These threads, or at least the monitor's, could not be started.
    private func refuse(_ workers: some Sequence<Worker>, _ failure: Int32) {
        for worker in workers { worker.pool.startFailed(worker) }
        let hasRoom = WorkerPool.makeRoom()
        lock.lock()
        let longer = min(max(backoffNanoseconds * 2, Self.backoff.lowerBound), Self.backoff.upperBound)
        backoffNanoseconds = hasRoom ? Self.backoff.lowerBound : longer
        refusedUntil.store(Deadline.now() + backoffNanoseconds, ordering: .relaxed)
        let isFirst = !hasReported
        hasReported = true
        let threads = WorkerPool.workerCount + (isRunning ? 1 : 0)
        lock.unlock()
        if isFirst { Misuse.threadRefused(threads: threads, reason: String(cString: strerror(failure))).report() }
    }

    // MARK: The thread

    private func run() {
        clinux_set_own_name("engine starter")
        // If that is refused, the thread keeps its creator's values.
        _ = clinux_use_main_threads_processors()
        if clinux_thread_nice(0) != NiceBand.base { _ = clinux_set_own_nice(NiceBand.base) }
        while true {
            reportAll()
            if !startAll(), let worker = becomeWorker() { return worker.run() }
            let end = refusedUntil.load(ordering: .relaxed)
            if end == 0 {
                _ = parker.park()
            } else if !parker.park(timeoutNanoseconds: max(0, end - Deadline.now())) {
                tryAgain()
            }
        }
    }

    /// Starts what is to be started. False if the system refuses.
    private func startAll() -> Bool {
        lock.lock()
        var workers = takeNewborn()[...]
        let isMonitorWanted = isMonitorWanted
        lock.unlock()
        if workers.isEmpty, !isMonitorWanted { return true }
        var failure: Int32 = 0
        while failure == 0, let worker = workers.first {
            failure = worker.start()
            if failure == 0 { workers.removeFirst() }
        }
        if failure == 0, isMonitorWanted { failure = BlockingMonitor.shared.startThread() }
        if failure != 0 {
            refuse(workers, failure)
            return false
        }
        lock.withLock {
            if isMonitorWanted { self.isMonitorWanted = false }
            backoffNanoseconds = 0
            refusedUntil.store(0, ordering: .relaxed)
        }
        return true
    }

    /// A worker of a pool that has none, for this thread to become. Nil if no pool needs one.
    private func becomeWorker() -> Worker? {
        guard let worker = WorkerPool.makeSubstitute() else { return nil }
        let others = lock.withLock {
            isRunning = false
            return takeNewborn()
        }
        for other in others { other.pool.startFailed(other) }
        return worker
    }
}

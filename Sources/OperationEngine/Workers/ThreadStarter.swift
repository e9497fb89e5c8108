import CLinux
import Glibc
import Synchronization

/// The thread that starts all the others of the engine.
///
/// A thread inherits the nice value of the one that creates it, and a worker of a low band could not give birth to a
/// normal one. So this one is created from the first thread that uses the engine, and takes the main thread's nice value
/// if it may. It has the processors of the main thread too, not those that its creator was confined to.
///
/// **Where the system refuses a thread**, that is reported once, as `Misuse.threadRefused`, and tried again after a while,
/// which doubles from a millisecond up to a second: by this thread as long as items wait; where this one could not be
/// made either, by whoever adds, takes or waits next. Meanwhile the workers that there are do the work. A pool without
/// any gets the thread of an idle worker of another pool. If there is none either, this thread becomes its worker for
/// good, and who needs a thread next makes a new starter.
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
    /// What the monitor has to report, which has no standard error.
    private var reports: [Misuse] = []

    /// Until when no thread is asked for, since one was refused; 0 if none was. Written under `lock`.
    ///
    /// Relaxed: a pool reads it under its own lock, after it has appended an item. The starter resets it, and then takes
    /// each pool's lock to look for items. Whichever of the two comes first under that lock, the later one sees what the
    /// earlier has written: the starter the item, or the pool that it may ask for a thread.
    private let refusedUntil = Atomic<Int64>(0)

    private static let backoff: ClosedRange<Int64> = 1_000_000...1_000_000_000

    private init() {}

    // MARK: On any thread

    /// Has a worker's thread started, or tells the worker's pool that it was refused.
    func start(_ worker: Worker) {
        lock.lock()
        newborn.append(worker)
        callAndUnlock()
    }

    /// Has the monitor's thread started, as soon as there is one to be had.
    func startMonitor() {
        lock.lock()
        isMonitorWanted = true
        callAndUnlock()
    }

    /// For the monitor: has a misuse reported by this thread, or, where there is none, by one that waits.
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
        let failure = EngineThread.start { _ in
            ThreadStarter.shared.run()
            return nil
        }
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

    /// Whether it is too early to ask for another thread.
    var isRefused: Bool {
        let end = refusedUntil.load(ordering: .relaxed)
        return end != 0 && Deadline.now() < end
    }

    /// After a refusal, when it is time, calls workers for the items that wait. For threads that wait for operations,
    /// and have nothing else to do.
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
        clinux_set_own_name("OpEngineStarter")
        // Refused, it stays where it was born.
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

    /// Gives this thread to a pool that has none. Nil if each has some.
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

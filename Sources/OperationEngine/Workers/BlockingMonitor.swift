import CLinux
import Glibc
import Synchronization

/// The thread that notices blocked workers and starts all the others.
///
/// It looks once a millisecond, but only while work waits for a worker and none is free; else it sleeps.
///
/// It also starts every worker's thread: a thread inherits the nice value of the one that creates it, and a worker of
/// a low band could not give birth to a normal one. So it is itself created from the first thread that uses the
/// engine, whose nice value it keeps; but not its signal mask, since signals are for the application's own threads, and
/// not the processors it is confined to, but those of the process's main thread.
final class BlockingMonitor: @unchecked Sendable {
    static let shared = BlockingMonitor()

    /// Whether its own thread was started: with the first worker's.
    private let isStarted = Atomic<Bool>(false)
    private let isAwake = Atomic<Bool>(false)
    private let parker = Parker()
    private let lock = FutexLock()
    /// Workers whose threads are to be started. Guarded by `lock`.
    private var newborn: [Worker] = []

    private static let lookInterval = Duration.milliseconds(1)

    private init() {}

    private func start() {
        var thread = pthread_t()
        var signalMask = sigset_t()
        clinux_block_signals(&signalMask)
        defer { pthread_sigmask(SIG_SETMASK, &signalMask, nil) }
        let failure = pthread_create(
            &thread, nil,
            { _ in
                BlockingMonitor.shared.run()
                return nil
            }, nil)
        precondition(
            failure == 0, "OperationEngine cannot start its first thread: \(String(cString: strerror(failure)))")
        pthread_detach(thread)
    }

    /// Called after an item was left waiting in a pool, or a surge has begun. That was stored before this load, and the
    /// monitor stores `isAwake = false` before it looks for the last time: one of the two sees the other.
    func ensureAwake() {
        if !isAwake.load(ordering: .sequentiallyConsistent) { parker.unpark() }
    }

    func startThread(of worker: Worker) {
        if !isStarted.exchange(true, ordering: .relaxed) { start() }
        lock.withLock { newborn.append(worker) }
        parker.unpark()
    }

    private func run() {
        clinux_set_own_name("OpEngineMonitor")
        // Refused, it stays where it was born.
        _ = clinux_use_main_threads_processors()
        var nextLook = Deadline(after: .zero)
        while true {
            startNewborn()
            guard nextLook.remainingNanoseconds == 0 else {
                _ = parker.park(timeoutNanoseconds: nextLook.remainingNanoseconds)
                continue
            }
            if look() {
                isAwake.store(true, ordering: .relaxed)
                nextLook = Deadline(after: Self.lookInterval)
            } else {
                isAwake.store(false, ordering: .sequentiallyConsistent)
                if !WorkerPool.all.contains(where: { $0.needsLook }) { _ = parker.park() }
            }
        }
    }

    /// True if some pool has work waiting, or a surge to end.
    private func look() -> Bool {
        var isAnyBusy = false
        for pool in WorkerPool.all where pool.needsLook {
            if pool.lookForBlocked() { isAnyBusy = true }
        }
        return isAnyBusy
    }

    private func startNewborn() {
        let workers = lock.withLock {
            defer { newborn.removeAll() }
            return newborn
        }
        for worker in workers where !worker.start() { worker.pool.startFailed(worker) }
    }
}

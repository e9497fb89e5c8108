import CLinux
import Synchronization

/// The thread that notices blocked workers.
///
/// It looks once a millisecond, but only while work waits for a worker and none is free, or during a surge, and reads
/// the number of processors again every other second then. Otherwise it sleeps. Its thread is started when there is
/// something to look at for the first time. It makes no threads itself: see `ThreadWatch.init`.
final class BlockingMonitor: @unchecked Sendable {
    static let shared = BlockingMonitor()

    /// Whether its thread was requested.
    private let isWanted = Atomic<Bool>(false)
    private let isAwake = Atomic<Bool>(false)
    private let parker = Parker()

    private static let lookInterval = Duration.milliseconds(1)
    /// How often the monitor reads the number of processors while it looks: some ten small files.
    private static let readingInterval = Duration.seconds(2)

    private init() {}

    /// Starts the thread. 0, or an errno value.
    func startThread() -> Int32 {
        clinux_start_thread(
            nil,
            { _ in
                clinux_set_own_name("engine monitor")
                BlockingMonitor.shared.run()
                return nil
            }, nil)
    }

    /// Called after an item was left waiting in a pool, or after a surge has begun. The caller has stored that before
    /// this load, and the monitor stores `isAwake = false` before it looks for the last time. So one of the two sees
    /// the other. A monitor that is still to be started looks before it sleeps.
    func ensureAwake() {
        if isAwake.load(ordering: .sequentiallyConsistent) { return }
        parker.unpark()
        if !isWanted.load(ordering: .relaxed), !isWanted.exchange(true, ordering: .relaxed) {
            ThreadStarter.shared.startMonitor()
        }
    }

    private func run() {
        var watch = ThreadWatch()
        var nextLook = Deadline(after: .zero)
        var nextReading = Deadline(after: Self.readingInterval)
        var hasSlept = true
        var hasReported = false
        while true {
            guard nextLook.remainingNanoseconds == 0 else {
                _ = parker.park(timeoutNanoseconds: nextLook.remainingNanoseconds)
                continue
            }
            if nextReading.remainingNanoseconds == 0 {
                Processors.read()
                nextReading = Deadline(after: Self.readingInterval)
            }
            watch.beginLook(afterSleep: hasSlept)
            hasSlept = false
            let isBusy = look(with: &watch)
            if watch.hasJudgedBlindly, !hasReported {
                hasReported = true
                ThreadStarter.shared.report(.blockingUnseen(reason: String(cString: strerror(watch.blindness))))
            }
            if isBusy {
                isAwake.store(true, ordering: .relaxed)
                nextLook = Deadline(after: Self.lookInterval)
            } else {
                isAwake.store(false, ordering: .sequentiallyConsistent)
                hasSlept = true
                if !WorkerPool.all.contains(where: { $0.needsLook }) { _ = parker.park() }
            }
        }
    }

    /// True if some pool has work waiting, or a surge to end.
    private func look(with watch: inout ThreadWatch) -> Bool {
        var isAnyBusy = false
        for pool in WorkerPool.all where pool.needsLook {
            if pool.lookForBlocked(with: &watch) { isAnyBusy = true }
        }
        return isAnyBusy
    }
}

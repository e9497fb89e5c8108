/// How the pools share the existing threads after the system has refused one.
extension WorkerPool {
    /// The worker's thread was refused.
    func startFailed(_ worker: Worker) {
        lock.withLock { remove(worker) }
    }

    /// Calls a worker if items wait for one. True if so.
    func callAgain() -> Bool {
        lock.lock()
        let isWaiting = !items.isEmpty
        callWorkerAndUnlock()
        return isWaiting
    }

    /// A new worker of the first pool that has items and no worker. A thread with the main thread's nice value is to
    /// become it.
    static func makeSubstitute() -> Worker? {
        for pool in all.reversed() where pool.lacksWorkers {
            if let worker = pool.lock.withLock({ pool.makeWorker(isSubstitute: true) }) { return worker }
        }
        return nil
    }

    /// Makes room for a worker of a pool that has items and no worker. If another pool has an idle worker with the main
    /// thread's nice value, gives its thread to the poor pool. Otherwise ends an idle worker, so another thread may be
    /// started. True if there was one.
    ///
    /// After a refusal two kinds of threads call this: one that leaves items in a pool without workers, and a worker
    /// that goes idle. The first brings an item under its pool's lock, and then takes the other pools' locks to look
    /// for idle workers. The second enters its pool's idle workers under the lock, and then takes the other pools'
    /// locks to look for items. So one of the two sees the other. If the second comes later under its own pool's lock,
    /// it also sees that threads are short, because the first had seen that before.
    @discardableResult
    static func makeRoom() -> Bool {
        guard all.contains(where: \.lacksWorkers) else { return false }
        for isLowered in [false, true] {
            for pool in all.reversed() {
                guard let worker = pool.dismissIdle(isLowered: isLowered) else { continue }
                if !isLowered { worker.successor = makeSubstitute() }
                worker.unpark()
                return true
            }
        }
        return false
    }

    private var lacksWorkers: Bool { lock.withLock { workers.isEmpty && !items.isEmpty } }

    /// Removes an idle worker from this pool, other than the held one, on which follow-ups rely. The caller has to wake
    /// it.
    private func dismissIdle(isLowered: Bool) -> Worker? {
        lock.withLock {
            guard let place = idle.lastIndex(where: { $0.isLowered == isLowered && !$0.isHeld }) else { return nil }
            let worker = idle.remove(at: place)
            worker.isIdle = false
            remove(worker)
            return worker
        }
    }
}

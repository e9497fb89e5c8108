/// How the pools share the threads that there are, where the system has refused one.
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

    /// A worker for a thread of the main thread's nice value to become, of the first pool that has items and no worker.
    static func makeSubstitute() -> Worker? {
        for pool in all.reversed() where pool.lacksWorkers {
            if let worker = pool.lock.withLock({ pool.makeWorker(isSubstitute: true) }) { return worker }
        }
        return nil
    }

    /// If a pool has items and no worker, gives it the thread of an idle worker of another one, if that has the main
    /// thread's nice value, or else sends one away, whose thread another one may get. True if there was one.
    ///
    /// Where a thread was refused, whoever leaves items in a pool without workers calls this, and so does who goes idle.
    /// The one brings an item under its pool's lock and then takes the other pools' locks to look for idle workers; the
    /// other enters its pool's idle ones under the lock and then takes the other pools' locks to look for items. So one
    /// of the two sees the other. That threads are short the latter sees if it comes later under its own pool's lock,
    /// since the former had seen it before.
    @discardableResult
    static func makeRoom() -> Bool {
        guard all.contains(where: \.lacksWorkers) else { return false }
        for isLowered in [false, true] {
            for pool in all.reversed() {
                guard let worker = pool.dismissIdle(isLowered: isLowered) else { continue }
                if !isLowered { worker.successor = makeSubstitute() }
                worker.parker.unpark()
                return true
            }
        }
        return false
    }

    private var lacksWorkers: Bool { lock.withLock { workers.isEmpty && !items.isEmpty } }

    /// An idle worker that the caller is to wake: it is this pool's no more.
    private func dismissIdle(isLowered: Bool) -> Worker? {
        lock.withLock {
            guard let place = idle.lastIndex(where: { $0.isLowered == isLowered }) else { return nil }
            let worker = idle.remove(at: place)
            worker.isIdle = false
            remove(worker)
            return worker
        }
    }
}

extension OperationQueue {
    /// Counts of the engine's threads, of all queues and all bands of thread priority together.
    ///
    /// They are read band by band, so a thread that changes its state meanwhile may be missing or be counted twice. The
    /// engine's two other threads, which start threads and look for blocked ones, are not counted, nor are threads of
    /// Dispatch.
    public struct EngineMetrics: Sendable, Hashable, Codable {
        /// How many threads of a band the engine keeps running: as many as there are processors, at most the CPU quota,
        /// or as `OPERATION_ENGINE_WORKERS` says (contract N15).
        public internal(set) var workers = 0
        /// The threads that exist or are about to: the sum of the next three.
        public internal(set) var threads = 0
        /// Threads that run operations, look for some, or sleep in one unnoticed.
        public internal(set) var running = 0
        /// Threads that sleep because there is nothing to do.
        public internal(set) var idle = 0
        /// Threads that wait in a call of the engine, or were seen asleep elsewhere. Others may run in their place.
        public internal(set) var blocked = 0
        /// Leases of queues, and blocks, that wait for a thread.
        public internal(set) var pending = 0
        /// How many times an idle thread was woken, since the process began.
        public internal(set) var wakeUps = 0
        /// How many threads were requested, since the process began.
        public internal(set) var threadsRequested = 0
    }

    /// Counts the engine's threads (contract X5). From any thread. It takes the lock of one band after the other, each
    /// for some nanoseconds.
    public static var engineMetrics: EngineMetrics {
        var metrics = EngineMetrics()
        metrics.workers = Processors.workers
        for pool in WorkerPool.all { pool.add(to: &metrics) }
        return metrics
    }
}

extension WorkerPool {
    fileprivate func add(to metrics: inout OperationQueue.EngineMetrics) {
        lock.withLock {
            metrics.threads += workers.count
            metrics.running += active
            metrics.idle += idle.count
            metrics.blocked += blockedCount
            metrics.pending += items.count
            metrics.wakeUps += wakeUps
            metrics.threadsRequested += requestedCount
        }
    }
}

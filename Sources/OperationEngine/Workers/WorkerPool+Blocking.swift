/// How a pool grows where its workers block, and shrinks again.
extension WorkerPool {
    /// How many looks of the monitor a surge lasts after one of its workers was last seen to run or to block.
    private static var fullSurgeLooks: Int { 10 }

    /// The worker is going to wait. Another one may run in its place.
    func beginBlocking(_ worker: Worker, _ runner: Runner, _ awaited: Awaited?) {
        lock.lock()
        (worker.awaited, worker.waitingRunner) = (awaited, .passUnretained(runner))
        let isNew = !worker.isCountedBlocked
        if isNew {
            worker.isCountedBlocked = true
            blockedCount += 1
        }
        callWorkerAndUnlock()
        if isNew, TraceMarks.threads { worker.trace(.growth) }
    }

    /// The worker runs again. That may be one too many: some worker stops at the end of its operation.
    func endBlocking(_ worker: Worker) {
        lock.lock()
        worker.awaited = nil
        let hasChanged = countRunning(worker)
        crowded.store(active > target, ordering: .relaxed)
        lock.unlock()
        if hasChanged, TraceMarks.threads { worker.trace(.shrinkage) }
    }

    /// A worker that was counted as blocked runs again. False if it was not. Under the lock.
    @discardableResult
    func countRunning(_ worker: Worker) -> Bool {
        guard worker.isCountedBlocked else { return false }
        worker.isPresumedBlocked.store(false, ordering: .relaxed)
        worker.isCountedBlocked = false
        blockedCount -= 1
        // A worker that has blocked in a surge will block again. So the surge lasts long enough for the monitor to see
        // that.
        if worker.isOfSurge {
            worker.isOfSurge = false
            setSurge(surge + 1)
        }
        return true
    }

    // MARK: What the monitor sees

    /// One look of the monitor, while items wait and as many workers run as should, or during a surge. Counts out the
    /// workers that are asleep outside the engine, and calls others in their place. True if it has to look again.
    func lookForBlocked(with watch: inout ThreadWatch) -> Bool {
        lock.lock()
        if surge > 0 {
            surgeLooks -= 1
            if surgeLooks == 0 { setSurge(0) }
        }
        let isWatched = !items.isEmpty || surge > 0
        let running = isWatched ? workers.filter(\.isRunning) : []
        lock.unlock()
        // Without the lock, because judging takes a while and this thread may have to wait for a processor.
        let verdicts = watch.judge(running)
        lock.lock()
        let new = countOut(zip(running, verdicts))
        let time = new.isEmpty ? 0 : Deadline.now()
        defer { if !new.isEmpty, TraceMarks.threads { for worker in new { worker.traceGrowth(at: time) } } }
        guard !items.isEmpty else {
            crowded.store(active > target, ordering: .relaxed)
            let isInSurge = surge > 0
            lock.unlock()
            return isInSurge
        }
        if !new.isEmpty, active <= 0, !verdicts.contains(.perhapsBlocked) { beginSurge() }
        callWorkerAndUnlock()
        return true
    }

    /// Counts out the workers that sleep. Those that were not counted out before. Under the lock.
    ///
    /// During a surge each worker takes its part of the surge along, and brings it back when it runs again: see
    /// `countRunning`.
    private func countOut(_ judged: Zip2Sequence<[Worker], [ThreadWatch.Verdict]>) -> [Worker] {
        var new: [Worker] = []
        for (worker, verdict) in judged where verdict != .awake && worker.isRunning {
            worker.isCountedBlocked = true
            worker.isPresumedBlocked.store(true, ordering: .relaxed)
            blockedCount += 1
            if surge > 0 {
                surge -= 1
                worker.isOfSurge = true
            }
            new.append(worker)
        }
        if surge == 0 { hasSurge.store(false, ordering: .relaxed) }
        return new
    }

    /// All running workers are blocked. So the monitor assumes that the waiting items block too, and requests at once
    /// as many workers as the limits allow.
    private func beginSurge() {
        var wanted = 0
        items.visit { item in
            if case .lease(let queue) = item { wanted += queue.wantedWorkers } else { wanted += 1 }
            return wanted < Processors.threadLimit
        }
        setSurge(max(0, min(wanted, Processors.threadLimit) - Processors.workers))
    }

    /// Begins, extends or ends a surge. Under the lock.
    private func setSurge(_ workers: Int) {
        let isNew = surge == 0 && workers > 0
        surge = workers
        surgeLooks = Self.fullSurgeLooks
        guard isNew || workers == 0 else { return }
        hasSurge.store(workers > 0, ordering: .sequentiallyConsistent)
        if isNew { BlockingMonitor.shared.ensureAwake() }
    }
}

import Dispatch

/// A limit k on Dispatch: one FIFO under a lock, drained by at most k blocks that run job after job.
final class DispatchPumps: @unchecked Sendable {
    /// A struct around the closure spares the array a second allocation per closure.
    private struct Job {
        let run: @Sendable () -> Void
    }

    private let count: Int
    private let queue: DispatchQueue
    /// Guards all that follows except `ended`.
    private let lock = PlainLock()
    private var jobs: [Job?] = []
    private var head = 0
    private var unfinished = 0
    private var running = 0
    private var isHeld = false
    /// Whether `drain` waits.
    private var isAwaited = false
    private let ended = DispatchSemaphore(value: 0)

    init(count: Int, on queue: DispatchQueue) {
        self.count = count
        self.queue = queue
    }

    func async(_ work: @escaping @Sendable () -> Void) {
        lock.lock()
        jobs.append(Job(run: work))
        unfinished += 1
        let startsPump = running < count && !isHeld
        if startsPump { running += 1 }
        lock.unlock()
        if startsPump { startPump() }
    }

    /// Lets no further job start.
    func hold() { lock.whileLocked { isHeld = true } }

    func resume() {
        let missing = lock.whileLocked {
            isHeld = false
            let missing = max(0, min(count - running, jobs.count - head))
            running += missing
            return missing
        }
        for _ in 0..<missing { startPump() }
    }

    /// Waits until all jobs are done.
    func drain() {
        let isBusy = lock.whileLocked {
            isAwaited = unfinished > 0
            return isAwaited
        }
        if isBusy { ended.wait() }
    }

    private func startPump() {
        queue.async { [self] in
            var job = next(ended: 0)
            while let running = job {
                running.run()
                job = next(ended: 1)
            }
        }
    }

    /// - Parameter done: how many jobs the pump has run since it asked last.
    private func next(ended done: Int) -> Job? {
        lock.lock()
        defer { lock.unlock() }
        unfinished -= done
        if unfinished == 0, isAwaited {
            isAwaited = false
            ended.signal()
        }
        guard head < jobs.count, !isHeld else {
            running -= 1
            return nil
        }
        let job = jobs[head].take()
        head += 1
        if head == jobs.count {
            jobs.removeAll(keepingCapacity: true)
            head = 0
        }
        return job
    }
}

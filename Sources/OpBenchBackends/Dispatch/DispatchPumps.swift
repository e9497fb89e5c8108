import Dispatch

/// A limit k on Dispatch: one FIFO under a lock, drained by at most k blocks that run job after job.
final class DispatchPumps: @unchecked Sendable {
    /// A struct around the closure spares the array a second allocation per closure.
    private struct Job {
        let run: @Sendable () -> Void
    }

    private let count: Int
    private let queue: DispatchQueue
    private let group: DispatchGroup
    private let lock = PlainLock()
    private var jobs: [Job?] = []
    private var head = 0
    private var running = 0
    private var isHeld = false
    /// Whether `drain` waits for the end of a hold.
    private var awaitsRelease = false
    private let released = DispatchSemaphore(value: 0)

    init(count: Int, on queue: DispatchQueue, group: DispatchGroup) {
        self.count = count
        self.queue = queue
        self.group = group
    }

    func async(_ work: @escaping @Sendable () -> Void) {
        lock.lock()
        jobs.append(Job(run: work))
        let startsPump = running < count && !isHeld
        if startsPump { running += 1 }
        lock.unlock()
        if startsPump { startPump() }
    }

    func hold() { lock.whileLocked { isHeld = true } }

    func letGo() {
        let (missing, isAwaited) = lock.whileLocked {
            isHeld = false
            let missing = max(0, min(count - running, jobs.count - head))
            running += missing
            defer { awaitsRelease = false }
            return (missing, awaitsRelease)
        }
        for _ in 0..<missing { startPump() }
        if isAwaited { released.signal() }
    }

    /// Waits until all jobs are done. Pumps end when they are held, so that their end alone says nothing.
    func drain() {
        var hasJobs = true
        while hasJobs {
            group.wait()
            let isHeldUp = lock.whileLocked {
                hasJobs = head < jobs.count
                awaitsRelease = hasJobs && isHeld
                return awaitsRelease
            }
            if isHeldUp { released.wait() }
        }
    }

    private func startPump() {
        queue.async(group: group) { [self] in
            while let job = next() { job.run() }
        }
    }

    private func next() -> Job? {
        lock.lock()
        defer { lock.unlock() }
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

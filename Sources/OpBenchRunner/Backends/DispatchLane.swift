import Dispatch
import Glibc

/// Dispatch's counterpart of an operation queue with a limit: a concurrent queue, a serial queue, or pumps.
final class DispatchLane: Sendable {
    private enum Kind {
        case concurrent, serial
        case pumps(DispatchPumps)
    }

    let queue: DispatchQueue
    let limit: Int?
    private let kind: Kind
    private let group = DispatchGroup()

    init(limit: Int?, isSuspended: Bool) {
        self.limit = limit
        switch limit {
        case nil:
            queue = DispatchQueue(label: "opbench.concurrent", attributes: .concurrent)
            kind = .concurrent
        case 1:
            queue = DispatchQueue(label: "opbench.serial")
            kind = .serial
        case let limit?:
            queue = DispatchQueue(label: "opbench.pumps", attributes: .concurrent)
            kind = .pumps(DispatchPumps(count: limit, on: queue, group: group))
        }
        if isSuspended { suspend() }
    }

    @inline(__always)
    func async(_ work: @escaping @Sendable () -> Void) {
        switch kind {
        case .concurrent: queue.async(group: group, execute: work)
        case .serial: queue.async(execute: work)
        case .pumps(let pumps): pumps.async(work)
        }
    }

    /// The same without being counted, for callers that know when all is done: `drain` does not wait for it.
    @inline(__always)
    func asyncUncounted(_ work: @escaping @Sendable () -> Void) {
        if case .pumps(let pumps) = kind { pumps.async(work) } else { queue.async(execute: work) }
    }

    /// The same for a work item.
    func async(_ item: DispatchWorkItem) {
        switch kind {
        case .concurrent: queue.async(group: group, execute: item)
        case .serial: queue.async(execute: item)
        case .pumps(let pumps):
            nonisolated(unsafe) let item = item
            pumps.async { item.perform() }
        }
    }

    /// The same, counted by a group of the caller's.
    func async(in batch: DispatchGroup, _ work: @escaping @Sendable () -> Void) {
        guard case .pumps(let pumps) = kind else { return queue.async(group: batch, execute: work) }
        batch.enter()
        pumps.async {
            work()
            batch.leave()
        }
    }

    /// Waits for all that was submitted.
    func drain() {
        switch kind {
        case .concurrent: group.wait()
        case .serial: queue.sync {}
        case .pumps(let pumps): pumps.drain()
        }
    }

    func suspend() {
        if case .pumps(let pumps) = kind { pumps.hold() }
        queue.suspend()
    }

    func resume() {
        queue.resume()
        if case .pumps(let pumps) = kind { pumps.letGo() }
    }
}

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

/// A pthread mutex. `Synchronization.Mutex` inherits priorities on Linux and is slow when contended, which would make
/// the pumps a straw man.
final class PlainLock: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inline(__always)
    func lock() { pthread_mutex_lock(mutex) }

    @inline(__always)
    func unlock() { pthread_mutex_unlock(mutex) }

    func whileLocked<Result>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }
}

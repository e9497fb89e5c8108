import CLinux
import Synchronization

/// The threads of one nice band, shared by all queues of the process.
///
/// The pool keeps as many workers running as there are processors. A worker that is blocked does not count, so another
/// one runs in its place. That happens at once if the worker blocks in an engine wait. If it blocks elsewhere, it
/// happens after about 2 ms, when `BlockingMonitor` has seen it asleep.
///
/// **No work item is forgotten while a worker sleeps.** Items, idle workers and counts change under one lock. A worker
/// parks only after it has seen no item under the lock. A thread that then appends an item finds the worker among the
/// idle ones. A worker that searches (spins without the lock) counts as awake, and looks once more under the lock
/// before it parks.
///
/// **A follow-up is left to the worker that brought it, for a while.** A worker that adds to the queue that it serves
/// will probably run the operation itself. Another worker that comes for it at once, one operation after the other,
/// mostly comes in vain or takes the operation to another cache. So while only follow-ups wait, they are released at
/// most every 50 µs, all together. One worker is *held* until then: it sleeps among the idle ones with a timeout, and
/// follow-ups call nobody. It needs no caller, so none is forgotten. Any other item may call it sooner. Follow-ups are
/// released at once if no other worker is awake, or if one is blocked, perhaps because it waits for a follow-up.
final class WorkerPool: @unchecked Sendable {
    let band: NiceBand

    let lock = FutexLock()
    // Copies for reading without the lock. They are written under it, and lie next to it because a thread that has
    // brought or taken an item writes them all.
    /// Whether a worker searches.
    let searching = Atomic<Bool>(false)
    /// Whether more workers run than should.
    let crowded = Atomic<Bool>(false)
    /// Whether `surge > 0`.
    let hasSurge = Atomic<Bool>(false)
    /// `items.count`.
    let pending = Atomic<Int>(0)

    // Guarded by `lock`, down to `requestedCount`.
    @exclusivity(unchecked) var items = WorkItemQueue()
    /// Parked workers. The latest is last, and is woken first because its caches are warm.
    @exclusivity(unchecked) var idle: [Worker] = []
    @exclusivity(unchecked) var blockedCount = 0
    @exclusivity(unchecked) var workers: [Worker] = []
    @exclusivity(unchecked) private var numbers = WorkerNumbers()
    @exclusivity(unchecked) private var searchLooks = WorkerPool.searchLooks.upperBound
    /// How many of the last items are follow-ups that were not released. Any other item behind them releases them.
    @exclusivity(unchecked) private var followUps = 0
    /// When follow-ups were last released, on the monotonic clock.
    @exclusivity(unchecked) private var lastFollowUpsNanoseconds: Int64 = 0
    /// Whether an idle worker comes for the follow-ups by itself.
    @exclusivity(unchecked) private var hasHeld = false
    /// How many workers above the processors' number the monitor requests, because all running ones were blocked, and
    /// for how many more of its looks. A surge must end by itself. Otherwise processor-bound work would have as many
    /// threads later.
    @exclusivity(unchecked) var surge = 0
    @exclusivity(unchecked) var surgeLooks = 0
    // For `OperationQueue.engineMetrics`.
    @exclusivity(unchecked) private(set) var wakeUps = 0
    @exclusivity(unchecked) private(set) var requestedCount = 0

    private static let threadCount = Atomic<Int>(0)
    /// Workers above the processors' number end after this long without work.
    private static let idleLifetimeNanoseconds: Int64 = 5_000_000_000
    /// How many times a worker looks for items before it parks: some microseconds, or one microsecond after searches in
    /// vain.
    private static let searchLooks = 60...120
    /// The least time between two releases of follow-ups.
    private static let followUpNanoseconds: Int64 = 50_000
    /// How many times the thread that brings an item looks for a worker that is about to come: a quarter of a
    /// microsecond.
    private static let returnLooks = 10
    private static let pools: [WorkerPool] = {
        prepareForThreads()
        let all = (0..<NiceBand.count).map { WorkerPool(band: NiceBand(index: $0)) }
        // Does once what a forked child does first, because Swift looks up the types of a loop under a lock of its own.
        setCrowded(false, in: all)
        return all
    }()

    /// Prepares what has to exist before the engine's first thread. Initializes the globals that the engine's threads
    /// use. In a forked child, two threads that meet at the initialization of a global would wait forever: Swift's lock
    /// for it names its holder by a thread number from before the fork (6.3).
    private static func prepareForThreads() {
        // From here on forked children are marked. If an operation forked, its worker takes no other operation in the
        // child.
        clinux_watch_forks { WorkerPool.stopAll() }
        LiveObjects.prepare()
        _ = (
            Processors.count, ThreadStarter.shared, BlockingMonitor.shared, NiceBand.base, MethodOverride.prepare(),
            Misuse.isStrict, Operation.observable, OperationQueue.observable, BriefSpin.prepare()
        )
    }
    /// By priority, the lowest first.
    static var all: [WorkerPool] { pools }
    static func of(_ band: NiceBand) -> WorkerPool { pools[band.index] }

    private init(band: NiceBand) { self.band = band }

    /// Awake and not blocked. Under the lock.
    var active: Int { workers.count - idle.count - blockedCount }
    var target: Int { Processors.workers + surge }
    private var isSearching: Bool { searching.load(ordering: .relaxed) }

    @inline(__always)
    var pendingCount: Int { pending.load(ordering: .relaxed) }
    /// For the monitor: whether an item waits, or a surge has to end. The monitor's last look before it sleeps pairs
    /// with the stores in `submit` and `setSurge`.
    var needsLook: Bool {
        pending.load(ordering: .sequentiallyConsistent) > 0 || hasSurge.load(ordering: .sequentiallyConsistent)
    }
    @inline(__always)
    var isCrowded: Bool { crowded.load(ordering: .relaxed) }

    private static func setCrowded(_ isCrowded: Bool, in pools: [WorkerPool]) {
        for pool in pools { pool.crowded.store(isCrowded, ordering: .relaxed) }
    }

    /// Called in a forked child, which has only the thread that forked. If that thread is a worker, it takes no other
    /// operation.
    static func stopAll() {
        setCrowded(true, in: pools)
    }

    // MARK: Giving and taking work

    /// Appends an item and wakes a worker for it if one is needed. Any thread.
    ///
    /// - Parameter isFollowUp: whether a worker of this pool brings the lease of the queue that it serves, because it has
    ///   added an operation there.
    func submit(_ item: WorkItem, isFollowUp: Bool = false) {
        if ForkedChild.isRefused() { return }
        lock.lock()
        items.append(item)
        followUps = isFollowUp ? followUps + 1 : 0
        pending.store(items.count, ordering: .sequentiallyConsistent)
        if items.count == 1, active > followUps, active < target, !isSearching {
            lock.unlock()
            if isTakenByReturner() { return }
            lock.lock()
        }
        callWorkerAndUnlock()
    }

    /// Whether a worker that is awake takes the only item, or will look for it. A worker that has just ended an
    /// operation may be on its way. Then waking another one would be in vain, and takes longer than this look.
    ///
    /// The caller has appended the item under the lock, and no worker searched then. So a search that is seen now has
    /// begun later, and its end will find the item.
    private func isTakenByReturner() -> Bool {
        for _ in 0..<Self.returnLooks {
            if pending.load(ordering: .relaxed) == 0 || isSearching { return true }
            clinux_spin_hint()
        }
        return false
    }

    /// Under the lock, which it releases: brings one more worker to the items, if fewer run than should.
    func callWorkerAndUnlock() {
        crowded.store(active > target, ordering: .relaxed)
        guard !items.isEmpty, !isSearching, !isLeftToHeld else { return lock.unlock() }
        guard active < target else {
            lock.unlock()
            // As many workers run as should. If they block, only the monitor will notice.
            return BlockingMonitor.shared.ensureAwake()
        }
        if let worker = idle.popLast() {
            worker.isIdle = false
            wakeUps += 1
            lock.unlock()
            worker.unpark()
        } else if ThreadStarter.shared.isRefused {
            // The starter calls again. Until then see `makeRoom`.
            let isPoor = workers.isEmpty
            lock.unlock()
            if isPoor { Self.makeRoom() }
        } else if let worker = makeWorker() {
            lock.unlock()
            ThreadStarter.shared.start(worker)
        } else {
            lock.unlock()
            // A thread of another band may end: the monitor tries again.
            BlockingMonitor.shared.ensureAwake()
        }
    }

    /// A worker whose thread is still to be started; nil if there are as many as there may be. Under the lock.
    func makeWorker(isSubstitute: Bool = false) -> Worker? {
        guard Self.threadCount.wrappingAdd(1, ordering: .relaxed).newValue <= Processors.threadLimit else {
            Self.threadCount.wrappingSubtract(1, ordering: .relaxed)
            return nil
        }
        let worker = Worker(pool: self, number: numbers.take(), isSubstitute: isSubstitute)
        workers.append(worker)
        requestedCount += 1
        return worker
    }

    /// Under the lock.
    func remove(_ worker: Worker) {
        worker.hasEnded = true
        workers.removeAll { $0 === worker }
        numbers.giveBack(worker.number)
        Self.threadCount.wrappingSubtract(1, ordering: .relaxed)
    }

    /// The engine's workers, of all bands.
    static var workerCount: Int { threadCount.load(ordering: .relaxed) }

    /// The next item for a worker. It sleeps until there is one. Nil if its thread has to end.
    func take(for worker: Worker) -> WorkItem? {
        if ForkedChild.isRefused() { return nil }
        lock.lock()
        // It may have been presumed blocked between two pieces of work, in a deinit for example.
        if countRunning(worker), TraceMarks.threads {
            lock.unlock()
            worker.trace(.shrinkage)
            lock.lock()
        }
        // Too many workers run. This one stops here and leaves the items to the others.
        if active > target, !worker.isNewborn, !park(worker) { return nil }
        worker.isNewborn = false
        if worker.isSubstitute, band != .normal, workers.contains(where: { $0 !== worker && !$0.isNewborn }) {
            // The pool has a worker of its own now.
            remove(worker)
            callWorkerAndUnlock()
            return nil
        }
        var hasSearched = false
        while true {
            if followUps > 0, case let wait = releaseFollowUps(), wait > 0 {
                guard hasHeld ? park(worker) : hold(worker, nanoseconds: wait) else { return nil }
            } else if let item = items.popFirst() {
                pending.store(items.count, ordering: .relaxed)
                callWorkerAndUnlock()
                return item
            } else if !isSearching, !hasSearched, Processors.count > 1 {
                search()
                hasSearched = true
            } else {
                if !park(worker) { return nil }
                hasSearched = false
            }
        }
    }

    /// Spins for a while until an item comes. Called and returns with the lock held.
    private func search() {
        searching.store(true, ordering: .relaxed)
        var looks = searchLooks
        lock.unlock()
        while pending.load(ordering: .relaxed) == 0, looks > 0 {
            clinux_spin_hint()
            looks -= 1
        }
        lock.lock()
        searching.store(false, ordering: .relaxed)
        searchLooks =
            items.isEmpty ? max(searchLooks / 2, Self.searchLooks.lowerBound) : Self.searchLooks.upperBound
    }

    /// Sleeps until called. Called with the lock held. Returns true with the lock held, or false without it if the
    /// thread has to end.
    private func park(_ worker: Worker) -> Bool {
        while true {
            let isSpare = worker.isSubstitute || workers.count > Processors.workers
            if sleep(worker, timeoutNanoseconds: isSpare ? Self.idleLifetimeNanoseconds : -1) { return stays(worker) }
            if worker.isSubstitute || workers.count > Processors.workers {
                remove(worker)
                lock.unlock()
                return false
            }
        }
    }

    /// Sleeps among the idle workers. Called and returns with the lock held. False if the time has run out.
    private func sleep(_ worker: Worker, timeoutNanoseconds: Int64) -> Bool {
        idle.append(worker)
        worker.isIdle = true
        crowded.store(active > target, ordering: .relaxed)
        lock.unlock()
        if ThreadStarter.shared.isShort { Self.makeRoom() }
        let isCalled = worker.park(timeoutNanoseconds: timeoutNanoseconds)
        lock.lock()
        if isCalled { return true }
        guard let place = idle.firstIndex(where: { $0 === worker }) else {
            // Another thread called it just when the time ran out. The token is here or on its way.
            lock.unlock()
            _ = worker.parker.park()
            lock.lock()
            return true
        }
        idle.remove(at: place)
        worker.isIdle = false
        return false
    }

    /// Whether a worker that was called has to work, rather than end. Under the lock, which it releases if the worker
    /// has to end.
    private func stays(_ worker: Worker) -> Bool {
        if worker.hasEnded { lock.unlock() }
        return !worker.hasEnded
    }

    // MARK: Follow-ups

    /// Whether only follow-ups wait, and a held worker comes for them. Under the lock.
    private var isLeftToHeld: Bool { hasHeld && followUps == items.count && blockedCount == 0 }

    /// Releases the follow-ups if it is time. Returns how many nanoseconds it is until then; 0 if it is, or if another
    /// item goes before them. Under the lock, for a worker that is awake.
    private func releaseFollowUps() -> Int64 {
        guard followUps == items.count else { return 0 }
        let now = Deadline.now()
        let wait = lastFollowUpsNanoseconds + Self.followUpNanoseconds - now
        if wait > 0, active > 1, blockedCount == 0 { return wait }
        followUps = 0
        lastFollowUpsNanoseconds = now
        return 0
    }

    /// Sleeps until follow-ups may be released, or until called. Called and returns as `park`.
    private func hold(_ worker: Worker, nanoseconds: Int64) -> Bool {
        hasHeld = true
        worker.isHeld = true
        let isCalled = sleep(worker, timeoutNanoseconds: nanoseconds)
        worker.isHeld = false
        hasHeld = false
        return !isCalled || stays(worker)
    }

    // MARK: All threads

    /// Whether the engine has all the threads that it may have.
    static var hasAllThreads: Bool { threadCount.load(ordering: .relaxed) >= Processors.threadLimit }

    /// Looks at all pools at one instant. `body` may take the locks of queues. No other code holds two pools' locks.
    static func withAllLocked<Result>(_ body: ([WorkerPool]) -> Result) -> Result {
        for pool in pools { pool.lock.lock() }
        defer { for pool in pools { pool.lock.unlock() } }
        return body(pools)
    }

    /// Under the lock.
    var workersUnderLock: [Worker] { workers }

    /// The queues with a lease that waits for a worker. Under the lock.
    var queuesWithLeases: [QueueCore] {
        var all: [QueueCore] = []
        items.visit { item in
            if case .lease(let queue) = item { all.append(queue) }
            return true
        }
        return all
    }
}

/// Which numbers the workers of a pool have: the smallest ones, from 1 on. Guarded by the pool's lock.
struct WorkerNumbers {
    /// A bit for each number, set while a worker has it.
    private var taken: [8 of UInt64] = .init(repeating: 0)

    /// The smallest number that no worker has. There are as many as threads of the engine.
    mutating func take() -> Int {
        for index in taken.indices where taken[index] != .max {
            let bit = (~taken[index]).trailingZeroBitCount
            taken[index] |= 1 << UInt64(bit)
            return index * UInt64.bitWidth + bit + 1
        }
        preconditionFailure("more workers than threads")
    }

    mutating func giveBack(_ number: Int) {
        let place = number - 1
        taken[place / UInt64.bitWidth] &= ~(1 << UInt64(place % UInt64.bitWidth))
    }
}

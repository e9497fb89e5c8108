import Dispatch
import Glibc
import Synchronization

/// What an `OperationQueue` is inside: its state machine under a lock, the inbox before it, and the leases by which
/// the pool's workers, or Dispatch's threads, come to run it.
///
/// A *lease* is a runner's right to take operations from this queue until nothing is left that may start. At most one
/// lease per band lies in the pool at a time; a worker that takes it up and sees more work calls for the next, so
/// workers come one after another while there is work for them. With an underlying queue the leases lie there.
///
/// **No ready operation is forgotten.** Whoever makes one visible, by a push into the inbox or by filing it under the
/// lock, then calls `signal`, which gives up in two cases. (1) A lease lies there: the runner that takes it up
/// clears the flag first and empties the inbox afterwards. (2) `isOpen` is false: all slots are taken, the queue is
/// suspended, or a barrier holds back what is added; whoever sets it true looks at the inbox afterwards (`settle`), and whoever frees a slot and takes it
/// again at once, without a look, keeps the lease, which it does not give up before such a look. Push, flag, `isOpen`
/// and the looks at the inbox are sequentially consistent, so in each pair one side sees the other.
///
/// **What is ready goes before what is in the inbox**, since it was added or became ready earlier, unless `hasUrgent` is
/// set. So a runner takes the inbox in when nothing of normal priority is ready any more, and all of it in one step.
final class QueueCore: OperationHost, @unchecked Sendable {
    private let liveMark = LiveMark(.queueCore)
    // The fields stand in three groups with a cache line between them, so that threads that add and threads that run do
    // not wait for each other's writes.

    // MARK: Written by threads that run operations

    let lock = FutexLock()
    /// Guarded by `lock`.
    @exclusivity(unchecked) var state = QueueState()
    /// Those that hold leases. Guarded by `lock`.
    @exclusivity(unchecked) var runners = RunnerList()
    /// Closures that have ended, or have become objects. Written under `lock`.
    let endedClosures = Atomic<Int>(0)
    /// Operations that runners have ended, and count out together. Written under `lock`.
    let endedOperations = Atomic<Int>(0)
    /// How many of them are no longer in `unfinished`: a runner counts those that it has released out together, at the
    /// latest when it finds nothing to do.
    let countedOut = Atomic<Int>(0)

    // MARK: Written by threads that add operations

    private let paddingBeforeAdders = CacheLine()
    let inbox = Inbox()
    /// Where closures enter that need no object each.
    let entrance = ClosureEntrance()
    /// Operations added and not counted out, and in the upper bits, in units of `oneBarrier`, barriers likewise. The step
    /// from 0 retains `owner`, the step to 0 releases it: a queue that its user dropped runs on until it is empty
    /// (contract Q3).
    let unfinished = Atomic<Int>(0)
    static let oneBarrier = 1 << 36
    /// Stands in `unfinished` for all closures without objects together.
    static let anyClosures = 1 << 61

    // MARK: Seldom written

    private let paddingBehindAdders = CacheLine()
    /// Set once, by the owner's init.
    private(set) var owner: Unmanaged<OperationQueue>?
    /// The queue of Dispatch that the operations run on, if not on the pool. Guarded by `lock`.
    @exclusivity(unchecked) private var storedUnderlyingQueue: DispatchQueue?
    /// Whether there is, or was, one.
    private let hasLeftPool = Atomic<Bool>(false)
    /// The index of the band for added operations that have neither a thread priority nor a quality of their own.
    private let newcomersBandIndex = Atomic<Int>(NiceBand.normal.index)
    /// The bands whose lease lies in the pool.
    private let calledBands = Atomic<UInt32>(0)
    /// A copy of `state.isOpen`, stored under the lock by `settle`.
    private let isOpen = Atomic<Bool>(true)
    /// Whether something may be in the inbox that goes before ready operations of normal priority. Set after such a push.
    /// Who empties the inbox clears it first: it finds what was pushed before, or the flag stays.
    private let hasUrgent = Atomic<Bool>(false)
    /// Counts the times that `unfinished` fell to 0 with somebody waiting.
    let drainings = Atomic<UInt32>(0)
    let drainWaiters = Atomic<Int>(0)
    /// Those of the waiters that are tasks. Guarded by `lock`.
    @exclusivity(unchecked) var drainAwaiters = AwaiterList()
    private let observed = Atomic<Bool>(false)
    /// Nil until the first observer. Guarded by `lock`.
    @exclusivity(unchecked) private var observerList: ObserverList<OperationQueue>?

    func setOwner(_ queue: OperationQueue) { owner = .passUnretained(queue) }

    // MARK: Observers

    // An observer sets the flag and then reads the value; a change is made and then looks for the flag. Sequentially
    // consistent, the count included: one of the two sees the other (contract D18). What is counted under one of the
    // locks needs no such order: the flag is set under both, and looked at under the same one or later.

    /// Whether the queue has, or had, observers.
    var hasObservers: Bool { observed.load(ordering: .sequentiallyConsistent) }
    func setHasObservers() {
        lock.withLock {
            state.isObserved = true
            entrance.lock.withLock { observed.store(true, ordering: .sequentiallyConsistent) }
        }
    }

    /// The observers, if there ever were any. One load otherwise.
    var observers: ObserverList<OperationQueue>? { hasObservers ? lock.withLock { observerList } : nil }

    func observers(orMake make: () -> ObserverList<OperationQueue>) -> ObserverList<OperationQueue> {
        lock.withLock {
            let list = observerList ?? make()
            observerList = list
            return list
        }
    }

    // MARK: Counting

    /// Operations without the barriers (contract P10).
    ///
    /// A sum of five counters, none of which takes an atomic step when an operation ends: closures are counted by the thread that
    /// adds them, under the entrance's lock; what has ended, by the thread that holds the queue's lock anyway; and
    /// `unfinished`, on which threads wait and which keeps the queue alive, goes down by up to 1,024 at once. With two
    /// counters each operation and each closure would cost one or two atomic steps more, of some twelve.
    var operationCount: Int {
        // In this order: never too few. Acquiring: what has ended was counted in before.
        let closures = endedClosures.load(ordering: .acquiring)
        let ended = endedOperations.load(ordering: .acquiring)
        let objects = unfinished.load(ordering: .sequentiallyConsistent) & (Self.oneBarrier - 1)
        return objects + entrance.addedCount - closures - ended + countedOut.load(ordering: .sequentiallyConsistent)
    }

    /// Whether there is neither an operation nor a barrier.
    var isEmpty: Bool { unfinished.load(ordering: .sequentiallyConsistent) == 0 }

    func countIn(_ count: Int) {
        if count == 0 { return }
        // Wrapping, as all of the engine's counts: a checked addition is a load and a loop of compare-exchanges.
        if unfinished.wrappingAdd(count, ordering: .sequentiallyConsistent).oldValue == 0 { _ = owner?.retain() }
    }

    func countOut(_ count: Int) {
        // Releasing: pairs with the acquiring loads of a thread that waits for the queue.
        if unfinished.wrappingSubtract(count, ordering: .sequentiallyConsistent).newValue == 0 {
            if drainWaiters.load(ordering: .sequentiallyConsistent) > 0 { wakeDrainWaiters() }
            owner?.release()
        }
    }

    // MARK: The end of main

    /// Guarded by `lock`.
    @exclusivity(unchecked) private var endOfMainListener: (any EndOfMainListener)?

    var existingEndOfMainListener: (any EndOfMainListener)? { lock.withLock { endOfMainListener } }

    func endOfMainListener(orMake make: () -> any EndOfMainListener) -> any EndOfMainListener {
        lock.withLock {
            let listener = endOfMainListener ?? make()
            endOfMainListener = listener
            listens.store(true, ordering: .releasing)
            return listener
        }
    }

    // MARK: Changing the state

    /// Changes the state, with all that was added before in it, and starts what may start now.
    @inline(__always)
    @discardableResult
    func change<Result>(_ body: (inout QueueState) -> Result) -> Result {
        lock.lock()
        takeIn()
        let result = body(&state)
        settleAndUnlock()
        return result
    }

    /// Ends a change: starts what may start now. Under the lock, which it releases.
    func settleAndUnlock() {
        var nothing = Choice.nothing
        unlock(calling: settle(choosingFor: nil, &nothing))
    }

    /// Releases the lock, and does what had to wait for that.
    @inline(__always)
    func unlock(calling bands: BandSet) {
        let hasEnded = !state.endedInFiling.isEmpty
        if hasEnded { return unlockAndWithdraw(calling: bands) }
        lock.unlock()
        for band in bands { signal(band) }
    }

    /// Operations that have ended while they were being filed leave on a thread of their own: observers of the queue are
    /// told of it, who may wait for an operation that this thread is just ending.
    @inline(never)
    private func unlockAndWithdraw(calling bands: BandSet) {
        let ended = state.endedInFiling
        state.endedInFiling = []
        lock.unlock()
        for band in bands { signal(band) }
        for operation in ended {
            // Not retained: the release here might be the last.
            WorkerPool.of(.normal).submit(.block { self.withdraw(operation.takeUnretainedValue()) })
        }
    }

    func read<Value>(_ body: (borrowing QueueState) -> Value) -> Value { lock.withLock { body(state) } }

    var mayHoldUrgent: Bool { hasUrgent.load(ordering: .sequentiallyConsistent) }
    func setHoldsUrgent() { hasUrgent.store(true, ordering: .sequentiallyConsistent) }

    /// Takes in what was added. Under the lock.
    @inline(__always)
    func takeIn() {
        if mayHoldUrgent { hasUrgent.store(false, ordering: .sequentiallyConsistent) }
        inbox.takeAll { state.admit($0) }
        state.listFilledBatch()
    }

    /// Whether `isOpen` is what the state says. Under the lock.
    var hasNotedOpenness: Bool { isOpen.load(ordering: .relaxed) == state.isOpen }

    /// Under the lock, after every change: empties the inbox, reaches the next segment if nothing is left of the one before,
    /// brings `isOpen` up to date, and says which bands of workers to call.
    ///
    /// - Parameters:
    ///   - runner: for whom to choose, if nothing is chosen yet; nil if for nobody.
    ///   - choice: what is chosen for it.
    func settle(choosingFor runner: Runner?, _ choice: inout Choice) -> BandSet {
        func choose() {
            if let runner, choice.isNothing {
                choice = state.choose(for: runner.lease, closureTo: runner.heldClosure)
            }
        }
        takeIn()
        state.reachNextSegment()
        choose()
        var mayStart = state.isOpen
        if mayStart != isOpen.load(ordering: .relaxed) {
            isOpen.store(mayStart, ordering: .sequentiallyConsistent)
            if mayStart {
                // Who saw it false has pushed before the store; what it pushed is found here.
                takeIn()
                choose()
                mayStart = state.isOpen
                if !mayStart { isOpen.store(false, ordering: .sequentiallyConsistent) }
            }
        }
        return mayStart ? state.bandsToCall() : BandSet()
    }

    // MARK: What operations ask for

    override func file(_ operation: Operation, _ answer: Bool?) -> Bool { change { $0.file(operation, answer) } }

    override func unchoose(_ operation: Operation) -> Bool { change { $0.unchoose(operation) } }

    /// A guest, or an operation that has finished by its own account before it was chosen: frees its slot, if it had one,
    /// and lets it leave. Called by the one thread whose transition finished it, or on behalf of the one that was filing
    /// it then; with nothing in hand that an observer of the queue might wait for.
    override func withdraw(_ operation: Operation) {
        lock.lock()
        inbox.takeAll { state.admit($0) }
        while operation.place.kind == .none {
            // The adding thread has made the operation known, and is about to push it into the inbox.
            lock.unlock()
            ForkedChild.endIfOne()
            sched_yield()
            lock.lock()
            inbox.takeAll { state.admit($0) }
        }
        state.withdraw(operation)
        settleAndUnlock()
        releaseAndCountOut(.passUnretained(operation))
    }

    // MARK: Leases

    /// Sees to it that a worker of the band comes, if one is needed. See the type's argument.
    func signal(_ band: NiceBand) {
        let bit = BandSet(band).bits
        if calledBands.load(ordering: .sequentiallyConsistent) & bit != 0 { return }
        if !isOpen.load(ordering: .sequentiallyConsistent) { return }
        if calledBands.bitwiseOr(bit, ordering: .sequentiallyConsistent).oldValue & bit != 0 { return }
        // A look that comes too early to see another target sends a lease to the pool, where it chooses nothing and
        // calls for the right one.
        if hasLeftPool.load(ordering: .relaxed) { submitLeaseOutsidePool(band) } else { submitLeaseToPool(band) }
    }

    private func submitLeaseToPool(_ band: NiceBand) { WorkerPool.of(band).submit(.lease(self)) }

    private func submitLeaseOutsidePool(_ band: NiceBand) {
        let (underlyingQueue, target) = lock.withLock { (storedUnderlyingQueue, state.target) }
        guard let underlyingQueue else { return submitLeaseToPool(band) }
        underlyingQueue.async { Runner(on: target).serve(self, calledFor: band) }
    }

    /// Whether this queue's lease lies in the band's pool.
    @inline(__always)
    func isCalled(_ band: NiceBand) -> Bool { calledBands.load(ordering: .relaxed) & BandSet(band).bits != 0 }

    /// The lease that was called for the band has been taken up: from here on another may be called.
    func takeUpLease(_ band: NiceBand) {
        calledBands.bitwiseAnd(~BandSet(band).bits, ordering: .sequentiallyConsistent)
    }

    /// How many more workers could run something of this queue now.
    var wantedWorkers: Int {
        lock.withLock {
            takeIn()
            let ended = endedClosures.load(ordering: .relaxed)
            return state.wantedWorkers(closures: entrance.addedCount - ended - state.runningClosures)
        }
    }

    /// Whether the queue cannot get empty without a worker of a pool: something is there to be started.
    var needsWorkers: Bool {
        lock.withLock {
            takeIn()
            return state.target == .pool && (state.ready.count > 0 || !state.held.isEmpty)
        }
    }

    /// Whether nothing executes, and nothing could if it were let.
    var isStandingStill: Bool {
        lock.withLock {
            takeIn()
            return state.isStandingStill
        }
    }

    // MARK: The target

    /// Where the operations run: nil stands for the pool.
    var underlyingQueue: DispatchQueue? { lock.withLock { storedUnderlyingQueue } }

    /// Moves an empty queue to another target; false, with no change, if it is not empty.
    ///
    /// An operation that is added at the same time finds either target: it is counted in before it is admitted, and
    /// admitted under the lock. A lease of the earlier target may still lie or be held there; it chooses nothing.
    ///
    /// Nor is it waited for, since it may lie behind work without end: the bands count as not called. Who gave up for
    /// its sake did so before that, and after a push that is then found here. When it is taken up after all, it makes
    /// the new target's lease count as not called: there may be two for a while, which is harmless.
    func move(to underlyingQueue: DispatchQueue?) -> Bool {
        lock.lock()
        guard unfinished.load(ordering: .sequentiallyConsistent) == 0 else {
            lock.unlock()
            return false
        }
        let replaced = storedUnderlyingQueue
        storedUnderlyingQueue = underlyingQueue
        state.target = underlyingQueue == nil ? .pool : .next()
        hasLeftPool.store(true, ordering: .relaxed)
        calledBands.store(0, ordering: .sequentiallyConsistent)
        settleAndUnlock()
        // Released outside the lock.
        return withExtendedLifetime(replaced) { true }
    }

    /// Sets the band for operations added from here on; see `newcomersBand`.
    func setNewcomersBand(_ band: NiceBand) { newcomersBandIndex.store(band.index, ordering: .relaxed) }

    /// The band for added operations that have neither a thread priority nor a quality of their own.
    var newcomersBand: NiceBand { NiceBand(index: newcomersBandIndex.load(ordering: .relaxed)) }

    /// The queue that this is the inside of. Only while it has an unfinished operation, which keeps it alive.
    var liveOwner: OperationQueue? { owner?.takeUnretainedValue() }
}

extension Operation {
    /// The queue that the operation belongs to: see `queue`.
    @inline(__always)
    final var core: Unmanaged<QueueCore>? { queue.map { Unmanaged.fromOpaque($0.toOpaque()) } }
}

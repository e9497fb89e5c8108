import CLinux
import Dispatch
import Synchronization

/// The inside of an `OperationQueue`: its state machine under a lock, the inbox in front of it, and the leases that
/// bring the pool's workers, or threads of Dispatch, to the queue.
///
/// A *lease* is a runner's right to take operations from this queue until nothing is left that may start. At most one
/// lease per band lies in the pool at a time. A worker that takes it up and sees more work calls for the next one, so
/// workers come one after another while there is work for them. With an underlying queue the leases lie in that queue.
///
/// **No ready operation is forgotten.** A thread makes an operation visible by a push into the inbox or by filing it
/// under the lock. Then it calls `signal`, which gives up in two cases. (1) A lease lies there. The runner that takes
/// it up clears the flag first and empties the inbox afterwards. (2) `isOpen` is false: all slots are taken, the queue
/// is suspended, or a barrier holds back what is added. The thread that sets it to true checks the inbox afterwards
/// (`settle`). A runner that frees a slot and takes it again at once, without such a check, keeps its lease, and does
/// not give it up before one. The push, the flag, `isOpen` and the checks of the inbox are sequentially consistent. So
/// in each of these pairs one side sees the other.
///
/// **Ready items go before the inbox**, because they were added earlier or became ready earlier, unless `hasUrgent` is
/// set. So a runner empties the inbox when nothing of normal priority is ready any more, and all of it in one step.
final class QueueCore: Linked, @unchecked Sendable {
    private let liveMark = LiveMark(.queueCore)
    // The fields form three groups with a cache line between them. So threads that add and threads that run do not
    // invalidate each other's lines.

    // MARK: Written by threads that run operations

    let lock = FutexLock()
    /// Guarded by `lock`.
    @exclusivity(unchecked) var state = QueueState()
    /// The runners that hold leases. Guarded by `lock`.
    @exclusivity(unchecked) var runners = LinkedList<Runner>()
    /// Operations and closures that runners have ended and count out later, several at once. Guarded by `lock`.
    @exclusivity(unchecked) var endedCount = 0
    /// How many of `endedCount` are no longer in `unfinished`. A runner counts out together what it has released, at
    /// the latest when it finds nothing to do.
    let countedOut = Atomic<Int>(0)
    /// Guarded by `lock`.
    @exclusivity(unchecked) var waitMarks = WaitMarks()

    // MARK: Written by threads that add operations

    private let paddingBeforeAdders = CacheLine()
    let inbox = Inbox()
    /// Operations and closures that were admitted and not counted out, and 1 while the inbox is not empty. In the upper
    /// bits, in units of `oneBarrier`, barriers likewise. The step from 0 retains `owner`, and the step to 0 releases it.
    /// So a queue that its user dropped runs until it is empty (contract Q3).
    let unfinished = Atomic<Int>(0)
    static let oneBarrier = 1 << 36

    // MARK: Seldom written

    private let paddingBehindAdders = CacheLine()
    /// The queue, for the counts that keep it alive. Set once, by the owner's init, as is the next.
    private var owner: Unmanaged<OperationQueue>?
    /// The queue, for everything else: nil once its deinit has begun. So what leads from a thread or an operation to
    /// the queue keeps it alive or does not find it.
    private(set) weak var liveOwner: OperationQueue?
    /// The Dispatch queue on which the operations run, if not on the pool. Guarded by `lock`.
    @exclusivity(unchecked) private var storedUnderlyingQueue: DispatchQueue?
    /// Whether there is, or was, an underlying queue.
    private let hasLeftPool = Atomic<Bool>(false)
    /// The index of the band for added operations with neither a thread priority nor a quality of service of their own.
    private let newcomersBandIndex = Atomic<Int>(NiceBand.normal.index)
    /// The bands whose lease lies in the pool.
    private let calledBands = Atomic<UInt32>(0)
    /// A copy of `state.isOpen`, stored under the lock by `settle`.
    private let isOpen = Atomic<Bool>(true)
    /// Whether the inbox may hold something that goes before ready operations of normal priority. Set after such a
    /// push. A thread that empties the inbox clears it first. So it finds what was pushed before, or the flag stays
    /// set.
    private let hasUrgent = Atomic<Bool>(false)
    /// How many times `unfinished` fell to 0 while threads or tasks waited.
    let drainings = Atomic<UInt32>(0)
    let drainWaiters = Atomic<Int>(0)
    /// The waiters that are tasks. Guarded by `lock`.
    @exclusivity(unchecked) var drainAwaiters = LinkedList<Awaiter>()
    private let observed = Atomic<Bool>(false)
    /// Nil until the first observer. Guarded by `lock`.
    @exclusivity(unchecked) private var observerList: ObserverList<OperationQueue>?

    /// In the `QueueRegister`, guarded by its lock.
    @exclusivity(unchecked) var links = ListLinks<QueueCore>()

    func setOwner(_ queue: OperationQueue) {
        owner = .passUnretained(queue)
        liveOwner = queue
    }

    // MARK: Observers

    // An observer sets the flag and then reads the value. A thread that makes a change makes it and then reads the
    // flag. All of these are sequentially consistent, the count included, so one of the two sees the other (contract
    // D18). A count that changes under the lock needs no such order: the flag is set under it, and read under it or
    // later.

    /// Whether the queue has, or had, observers.
    var hasObservers: Bool { observed.load(ordering: .sequentiallyConsistent) }
    func setHasObservers() {
        lock.withLock {
            state.isObserved = true
            observed.store(true, ordering: .sequentiallyConsistent)
        }
    }

    /// The observers; nil if there were never any. Then it costs one load.
    var observers: ObserverList<OperationQueue>? { hasObservers ? lock.withLock { observerList } : nil }

    func observers(orMake make: () -> ObserverList<OperationQueue>) -> ObserverList<OperationQueue> {
        lock.withLock {
            let list = observerList ?? make()
            observerList = list
            return list
        }
    }

    // MARK: Counting

    /// The unfinished operations without the barriers (contract P10).
    ///
    /// It takes the lock, and admits what was added. So neither an operation that is added nor one that ends takes an
    /// atomic read-modify-write for its count: `unfinished`, on which threads wait and which keeps the queue alive, goes
    /// up by all items of the inbox at once, and down by up to 1,024.
    var operationCount: Int {
        withAllAdmitted {
            // In this order the sum is never too low.
            let admitted = unfinished.load(ordering: .sequentiallyConsistent) & (Self.oneBarrier - 1)
            return admitted - endedCount + countedOut.load(ordering: .sequentiallyConsistent)
        }
    }

    /// Whether there is neither an operation nor a barrier.
    var isEmpty: Bool { unfinished.load(ordering: .sequentiallyConsistent) == 0 }

    func countIn(_ count: Int) {
        if count == 0 { return }
        // Wrapping, as all counts of the engine: a checked addition compiles to a compare-exchange loop.
        if unfinished.wrappingAdd(count, ordering: .sequentiallyConsistent).oldValue == 0 { _ = owner?.retain() }
    }

    func countOut(_ count: Int) {
        // Releasing: pairs with the acquiring loads of threads that wait for the queue.
        if unfinished.wrappingSubtract(count, ordering: .sequentiallyConsistent).newValue == 0 {
            if drainWaiters.load(ordering: .sequentiallyConsistent) > 0 { wakeDrainWaiters() }
            owner?.release()
        }
    }

    // MARK: The end of main

    /// Whether there is a listener for the end of each `main`. Set for good by the first caller that asks for the
    /// listener. Releasing and acquiring, for operations that another thread adds after that. Operations that end at
    /// the same time may go uncounted.
    private let listens = Atomic<Bool>(false)
    @inline(__always)
    var hasEndOfMainListener: Bool { listens.load(ordering: .acquiring) }
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

    /// Changes the state after everything that was added before was admitted, and starts what may start now.
    @inline(__always)
    @discardableResult
    func change<Result>(_ body: (inout QueueState) -> Result) -> Result {
        lock.lock()
        admitAll()
        let result = body(&state)
        settleAndUnlock()
        return result
    }

    /// Ends a change: starts what may start now. The caller holds the lock, and this releases it.
    func settleAndUnlock() {
        var nothing = Choice.nothing
        unlock(calling: settle(choosingFor: nil, &nothing))
    }

    /// Releases the lock, and then does what must not be done under it.
    @inline(__always)
    func unlock(calling bands: BandSet) {
        let hasEnded = !state.endedInFiling.isEmpty
        if hasEnded { return unlockAndWithdraw(calling: bands) }
        lock.unlock()
        for band in bands { signal(band) }
    }

    /// Operations that ended while they were being filed leave the queue on another thread. The queue's observers are
    /// notified then, and may wait for an operation that this thread is just ending.
    @inline(never)
    private func unlockAndWithdraw(calling bands: BandSet) {
        let ended = state.endedInFiling
        state.endedInFiling = []
        lock.unlock()
        for band in bands { signal(band) }
        for operation in ended {
            // Not retained here: the release could be the last one.
            WorkerPool.of(.normal).submit(.block { self.withdraw(operation.takeUnretainedValue()) })
        }
    }

    func read<Value>(_ body: (borrowing QueueState) -> Value) -> Value { lock.withLock { body(state) } }

    /// Looks at the state after everything that was added before was admitted.
    func withAllAdmitted<Value>(_ body: () -> Value) -> Value {
        lock.withLock {
            admitAll()
            return body()
        }
    }

    var mayHoldUrgent: Bool { hasUrgent.load(ordering: .sequentiallyConsistent) }
    func setHoldsUrgent() { hasUrgent.store(true, ordering: .sequentiallyConsistent) }

    /// Admits what was added. Under the lock.
    @inline(__always)
    func admitAll() {
        if mayHoldUrgent { hasUrgent.store(false, ordering: .sequentiallyConsistent) }
        emptyInbox { state.admit($0) }
    }

    /// Empties the inbox, and counts in what was there. Under the lock.
    @inline(__always)
    func emptyInbox(_ body: (QueueItem.Pointer) -> Void) {
        let count = inbox.takeAll(body)
        // One of them is counted already: see `push`.
        if count > 1 { unfinished.wrappingAdd(count - 1, ordering: .sequentiallyConsistent) }
    }

    /// Brings the copy `isOpen` up to date after a step that cannot have opened the queue. Under the lock.
    @inline(__always)
    func noteClosing() {
        if isOpen.load(ordering: .relaxed) == state.isOpen { return }
        assert(!state.isOpen, "the queue has opened without a look at the inbox")
        isOpen.store(false, ordering: .sequentiallyConsistent)
    }

    /// Ends every change, under the lock. Empties the inbox, advances to the next segment if nothing of the reached one
    /// is left, brings `isOpen` up to date, and returns the bands of workers to call.
    ///
    /// - Parameters:
    ///   - runner: the runner for which to choose, if nothing is chosen yet; nil to choose for no one.
    ///   - choice: what is chosen for it.
    func settle(choosingFor runner: Runner?, _ choice: inout Choice) -> BandSet {
        func choose() {
            if let runner, choice.isNothing { choice = state.choose(for: runner.lease) }
        }
        admitAll()
        state.reachNextSegment()
        choose()
        var mayStart = state.isOpen
        if mayStart != isOpen.load(ordering: .relaxed) {
            isOpen.store(mayStart, ordering: .sequentiallyConsistent)
            if mayStart {
                // A thread that saw it false had pushed before this store. What it pushed is found here.
                admitAll()
                choose()
                mayStart = state.isOpen
                if !mayStart { isOpen.store(false, ordering: .sequentiallyConsistent) }
            }
        }
        return mayStart ? state.bandsToCall() : BandSet()
    }

    // MARK: What operations ask for

    /// Puts an operation whose phase is `filing` into its list. Returns false if the answer of its overridden `isReady`
    /// is out of date.
    func file(_ operation: Operation, _ answer: Bool?) -> Bool { change { $0.file(operation, answer) } }

    /// Makes a chosen operation wait again because its overridden `isReady` says no. Returns false if it has to be
    /// asked again.
    func unchoose(_ operation: Operation) -> Bool { change { $0.unchoose(operation) } }

    /// Takes out a guest, or an operation that announced its own end before it was chosen. Frees its slot if it had
    /// one. Called by the one thread whose transition finished the operation, or for the thread that was filing it at
    /// that time. The caller has nothing in hand that an observer of the queue might wait for.
    func withdraw(_ operation: Operation) {
        lock.lock()
        emptyInbox { state.admit($0) }
        while operation.place.kind == .none {
            // The adding thread has published the operation and is about to push it into the inbox.
            lock.unlock()
            ForkedChild.endIfOne()
            sched_yield()
            lock.lock()
            emptyInbox { state.admit($0) }
        }
        if !operation.place.isChosen { state.tally.unstarted += 1 }
        state.tally.endedAlone += 1
        state.withdraw(operation)
        settleAndUnlock()
        releaseAndCountOut(.passUnretained(operation))
    }

    // MARK: Leases

    /// Makes a worker of the band come if one is needed. See the type's argument.
    ///
    /// - Parameter isAdding: whether the caller adds, and has not just taken something itself.
    func signal(_ band: NiceBand, isAdding: Bool = false) {
        let bit = BandSet(band).bits
        if calledBands.load(ordering: .sequentiallyConsistent) & bit != 0 { return }
        if !isOpen.load(ordering: .sequentiallyConsistent) { return }
        if calledBands.bitwiseOr(bit, ordering: .sequentiallyConsistent).oldValue & bit != 0 { return }
        // A load too early to see another target sends a lease to the pool. There it chooses nothing and calls for the
        // right one.
        if hasLeftPool.load(ordering: .relaxed) { return submitLeaseOutsidePool(band) }
        submitLeaseToPool(band, isAdding: isAdding)
    }

    @inline(never)
    private func submitLeaseToPool(_ band: NiceBand, isAdding: Bool) {
        WorkerPool.of(band).submit(.lease(self), isFollowUp: isAdding && Runner.isServing(self, in: band))
    }

    @inline(never)
    private func submitLeaseOutsidePool(_ band: NiceBand) {
        let (underlyingQueue, target) = lock.withLock { (storedUnderlyingQueue, state.target) }
        guard let underlyingQueue else { return submitLeaseToPool(band, isAdding: false) }
        underlyingQueue.async { Runner(on: target).serve(self, calledFor: band) }
    }

    /// Whether a lease for the band was called and not taken up yet.
    @inline(__always)
    func isCalled(_ band: NiceBand) -> Bool { calledBands.load(ordering: .relaxed) & BandSet(band).bits != 0 }

    /// The lease that was called for the band was taken up. From here on another one may be called.
    func takeUpLease(_ band: NiceBand) {
        calledBands.bitwiseAnd(~BandSet(band).bits, ordering: .sequentiallyConsistent)
    }

    /// How many more workers could run something of this queue now.
    var wantedWorkers: Int { withAllAdmitted { state.wantedWorkers } }

    /// Whether the queue cannot become empty without a worker of a pool: it has something to start.
    var needsWorkers: Bool {
        withAllAdmitted { state.target == .pool && (state.ready.count > 0 || !state.held.isEmpty) }
    }

    /// Whether nothing executes and nothing is ready.
    var isStandingStill: Bool { withAllAdmitted { state.isStandingStill } }

    // MARK: The target

    /// The Dispatch queue on which the operations run; nil for the pool.
    var underlyingQueue: DispatchQueue? { lock.withLock { storedUnderlyingQueue } }

    /// Moves an empty queue to another target. Returns false, with no change, if it is not empty.
    ///
    /// An operation that is added at the same time runs on either target: it is counted in before it is admitted, and
    /// admitted under the lock. A lease for the earlier target may still be there, or be held. It chooses nothing.
    ///
    /// This does not wait for such a lease, which may lie behind work without end. The bands count as not called
    /// instead. A thread that gave up in `signal` because of that lease did so before this, and after a push that is
    /// found here. When the lease is taken up after all, it makes the new target's lease count as not called. So there
    /// may be two leases for a while, which is harmless.
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

    /// The band for added operations with neither a thread priority nor a quality of service of their own.
    var newcomersBand: NiceBand { NiceBand(index: newcomersBandIndex.load(ordering: .relaxed)) }
}

/// An object that a queue notifies when a `main` has returned: the progress of the module `OperationEngineProgress`.
/// That module may import Foundation; the engine may not.
package protocol EndOfMainListener: AnyObject, Sendable {
    /// Called on the thread of the operation, before it is finished, with no lock held.
    func mainHasEnded()
}

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
/// clears the flag first and empties the inbox afterwards. (2) `isOpen` is false: all slots are taken or the queue is
/// suspended; whoever sets it true looks at the inbox afterwards (`settle`), and whoever frees a slot and takes it
/// again at once has emptied the inbox in between. Push, flag, `isOpen` and the looks at the inbox are sequentially
/// consistent, so in each pair one side sees the other.
final class QueueCore: @unchecked Sendable {
    private let liveMark = LiveMark(.queueCore)
    let lock = FutexLock()
    /// Guarded by `lock`.
    @exclusivity(unchecked) private var state = QueueState()
    let inbox = Inbox()
    /// Where closures enter that need no object each.
    let entrance = ClosureEntrance()
    /// Closures that have ended, or have become objects. Written under `lock`.
    private let endedClosures = Atomic<Int>(0)
    /// The queue of Dispatch that the operations run on, if not on the pool. Guarded by `lock`.
    @exclusivity(unchecked) private var storedUnderlyingQueue: DispatchQueue?
    /// Whether there is, or was, one.
    private let hasLeftPool = Atomic<Bool>(false)
    /// The index of the band for added operations that have neither a thread priority nor a quality of their own.
    private let newcomersBand = Atomic<Int>(NiceBand.normal.index)
    /// The bands whose lease lies in the pool.
    private let calledBands = Atomic<UInt32>(0)
    /// A copy of `state.isOpen`, stored under the lock by `settle`.
    private let isOpen = Atomic<Bool>(true)

    /// Operations added and not finished, and in the upper bits, in units of `oneBarrier`, barriers likewise. The step
    /// from 0 retains `owner`, the step to 0 releases it: a queue that its user dropped runs on until it is empty
    /// (contract Q3).
    private let unfinished = Atomic<Int>(0)
    private static let oneBarrier = 1 << 36
    /// Stands in `unfinished` for all closures without objects together.
    private static let anyClosures = 1 << 61
    /// Counts the times that `unfinished` fell to 0 with somebody waiting.
    private let drainings = Atomic<UInt32>(0)
    private let drainWaiters = Atomic<Int>(0)
    /// Those of the waiters that are tasks. Guarded by `lock`.
    @exclusivity(unchecked) private var drainAwaiters = AwaiterList()
    /// Set once, by the owner's init.
    private var owner: Unmanaged<OperationQueue>?

    private let observed = Atomic<Bool>(false)
    /// Nil until the first observer. Guarded by `lock`.
    @exclusivity(unchecked) private var observerList: ObserverList<OperationQueue>?

    func setOwner(_ queue: OperationQueue) { owner = .passUnretained(queue) }

    // An observer sets the flag and then reads the value; a change is made and then looks for the flag. Sequentially
    // consistent, the count included: one of the two sees the other (contract D18).

    /// Whether the queue has, or had, observers.
    var hasObservers: Bool { observed.load(ordering: .sequentiallyConsistent) }
    func setHasObservers() { observed.store(true, ordering: .sequentiallyConsistent) }

    /// The observers, if there ever were any. One load otherwise.
    var observers: ObserverList<OperationQueue>? { hasObservers ? lock.withLock { observerList } : nil }

    func observers(orMake make: () -> ObserverList<OperationQueue>) -> ObserverList<OperationQueue> {
        lock.withLock {
            let list = observerList ?? make()
            observerList = list
            return list
        }
    }

    /// Operations without the barriers (contract P10).
    var operationCount: Int {
        // In this order: never too few.
        let ended = endedClosures.load(ordering: .sequentiallyConsistent)
        let objects = unfinished.load(ordering: .sequentiallyConsistent) & (Self.oneBarrier - 1)
        return objects + entrance.addedCount - ended
    }
    /// Whether there is neither an operation nor a barrier.
    var isEmpty: Bool { unfinished.load(ordering: .sequentiallyConsistent) == 0 }

    /// Set for good by the first who asks for the listener. Releasing and acquiring, for the sake of the operations that
    /// are added after that by another thread; those that end at the same time may go uncounted.
    private let listens = Atomic<Bool>(false)
    /// Guarded by `lock`.
    @exclusivity(unchecked) private var endOfMainListener: (any EndOfMainListener)?

    @inline(__always)
    var hasEndOfMainListener: Bool { listens.load(ordering: .acquiring) }
    var existingEndOfMainListener: (any EndOfMainListener)? { lock.withLock { endOfMainListener } }

    func endOfMainListener(orMake make: () -> any EndOfMainListener) -> any EndOfMainListener {
        lock.withLock {
            let listener = endOfMainListener ?? make()
            endOfMainListener = listener
            listens.store(true, ordering: .releasing)
            return listener
        }
    }

    // MARK: Adding

    /// Adds an operation that the caller has claimed and retained for the queue. The caller keeps it alive meanwhile.
    ///
    /// A ready one goes through the inbox. One that is not ready must not stay there, where the thread that makes it
    /// ready would not file it; it is admitted at once. So is a cancelled one, which may finish although nothing of
    /// the queue may start.
    func add(_ operation: Operation) {
        countIn(1)
        publish(operation)
        let word = operation.state.load()
        if word.isReadyUnasked, !word.isCancelled {
            inbox.push(first: operation, last: operation)
            if entrance.hasOpenRun { entrance.closeOpenRun() }
            // It may have lost its readiness since: then a worker comes in vain, and files it as waiting.
            return signal(word.band)
        }
        let bands = lock.withLock {
            inbox.takeAll { state.admit($0) }
            state.admit(operation)
            return settle().bandsToCall
        }
        if entrance.hasOpenRun { entrance.closeOpenRun() }
        for band in bands { signal(band) }
        if word.has(OperationState.Word.hasOwnReadiness) { operation.readinessMayHaveChanged() }
    }

    /// Adds a closure without an object. False if it has to be added as one.
    @inline(__always)
    func add(_ closure: @escaping @Sendable () -> Void) -> Bool {
        if newcomersBand.load(ordering: .relaxed) != NiceBand.normal.index || entrance.takesObject() { return false }
        entrance.lock.lock()
        // Counted before it can be found, and end.
        if entrance.countIn() { countIn(Self.anyClosures) }
        if entrance.open?._withUnsafeGuaranteedRef({ $0.append(closure) }) != true { pushRun(of: closure) }
        entrance.lock.unlock()
        signal(.normal)
        return true
    }

    @inline(never)
    private func pushRun(of closure: @escaping @Sendable () -> Void) {
        let run = Unmanaged.passRetained(entrance.openRun(for: closure)).takeUnretainedValue()
        run.queue = .passUnretained(self)
        inbox.push(first: run, last: run)
    }

    /// As `add(_:)`, for an operation that nobody else knows, which is ready and has no readiness of its own. It may be
    /// gone when this returns.
    func add(unknown operation: Unmanaged<Operation>) {
        countIn(1)
        let band = operation._withUnsafeGuaranteedRef { operation in
            operation.queue = .passUnretained(self)
            let band = NiceBand(index: newcomersBand.load(ordering: .relaxed))
            if band != .normal { operation.adopt(band) }
            operation.state.enqueueUnknown()
            inbox.push(first: operation, last: operation)
            return band
        }
        if entrance.hasOpenRun { entrance.closeOpenRun() }
        signal(band)
    }

    /// As `add(_:)`, for several operations in one step.
    func add(_ operations: [Operation]) {
        guard let first = operations.first else { return }
        countIn(operations.count)
        var last = first
        for operation in operations {
            publish(operation)
            if operation !== first { operation.next = .passUnretained(last) }
            last = operation
        }
        inbox.push(first: first, last: last)
        if entrance.hasOpenRun { entrance.closeOpenRun() }

        // One that becomes ready after this look does so as `waiting`, under the lock's protection.
        var readyBands = BandSet()
        var allReady = true
        for operation in operations {
            let word = operation.state.load()
            if word.isReadyUnasked, !word.isCancelled { readyBands.insert(word.band) } else { allReady = false }
        }
        if !allReady { readyBands = lock.withLock { settle().bandsToCall } }
        for band in readyBands { signal(band) }
        if !allReady {
            for operation in operations where operation.state.load().has(OperationState.Word.hasOwnReadiness) {
                operation.readinessMayHaveChanged()
            }
        }
    }

    /// Adds a barrier, claimed and retained as an operation is: behind all that was added before.
    func addBarrier(_ barrier: BarrierOperation) {
        countIn(Self.oneBarrier)
        publish(barrier)
        let bands = lock.withLock {
            inbox.takeAll { state.admit($0) }
            state.admitBarrier(barrier)
            return settle().bandsToCall
        }
        for band in bands { signal(band) }
    }

    private func countIn(_ count: Int) {
        if count == 0 { return }
        if unfinished.add(count, ordering: .sequentiallyConsistent).oldValue == 0 { _ = owner?.retain() }
    }

    /// Writes the queue down in a claimed operation.
    private func publish(_ operation: Operation) {
        operation.queue = .passUnretained(self)
        let band = NiceBand(index: newcomersBand.load(ordering: .relaxed))
        if band != .normal { operation.adopt(band) }
        if MethodOverride.isReady.isPresent(in: operation) { operation.state.setOwnReadiness() }
        operation.state.publishQueue()
    }

    /// Files an operation whose phase is `filing`. False if the answer of its overridden `isReady` is out of date.
    func file(_ operation: Operation, _ answer: Bool?) -> Bool {
        let (end, bands) = lock.withLock {
            inbox.takeAll { state.admit($0) }
            return (state.file(operation, answer), settle().bandsToCall)
        }
        for band in bands { signal(band) }
        if end == .ended { withdraw(operation) }
        return end != .outdated
    }

    /// As `file`, for a caller that holds `lock` and then calls `unlockAfterFiling`, and for an operation that need
    /// not be asked. False if it has ended: then the caller calls `withdraw`, once it holds no lock.
    func fileLocked(_ operation: Operation) -> Bool {
        // What was added before it became ready goes before it (contract G6).
        inbox.takeAll { state.admit($0) }
        return state.file(operation, nil) == .filed
    }

    func unlockAfterFiling() {
        let bands = settle().bandsToCall
        lock.unlock()
        for band in bands { signal(band) }
    }

    /// Under the lock, after every change: empties the inbox, passes a barrier's place if nothing is left before it,
    /// chooses an operation for a worker if asked to, brings `isOpen` up to date, and says which bands of workers to
    /// call.
    private func settle(choosingFor runner: Runner? = nil) -> (chosen: Unmanaged<Operation>?, bandsToCall: BandSet) {
        takeIn()
        state.reachNextSegment()
        var chosen: Unmanaged<Operation>?
        if let runner { chosen = state.choose(for: runner) }
        var mayStart = state.isOpen
        if mayStart != isOpen.load(ordering: .relaxed) {
            isOpen.store(mayStart, ordering: .sequentiallyConsistent)
            if mayStart {
                // Who saw it false has pushed before the store; what it pushed is found here.
                takeIn()
                if let runner, chosen == nil { chosen = state.choose(for: runner) }
                mayStart = state.isOpen
                if !mayStart { isOpen.store(false, ordering: .sequentiallyConsistent) }
            }
        }
        return (chosen, mayStart ? state.bandsToCall() : BandSet())
    }

    /// Takes in what was added. Under the lock.
    @inline(__always)
    private func takeIn() {
        inbox.takeAll { state.admit($0) }
        state.listFilledRun()
    }

    /// Sees to it that a worker of the band comes, if one is needed. See the type's argument.
    private func signal(_ band: NiceBand) {
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

    // MARK: Running, by the holder of a lease

    /// Whether this queue's lease lies in the band's pool.
    @inline(__always)
    func isCalled(_ band: NiceBand) -> Bool { calledBands.load(ordering: .relaxed) & BandSet(band).bits != 0 }

    /// The lease that was called for the band has been taken up: from here on another may be called.
    func takeUpLease(_ band: NiceBand) {
        calledBands.bitwiseAnd(~BandSet(band).bits, ordering: .sequentiallyConsistent)
    }

    /// Frees a finished operation's slot, files what it has made ready, and chooses the next one if `mayGoOn`.
    func advance(_ runner: Runner, retiring finished: Unmanaged<Operation>?, mayGoOn: Bool) -> Unmanaged<Operation>? {
        lock.lock()
        if let finished { finished._withUnsafeGuaranteedRef { state.retire($0) } }
        // What was added before they became ready goes before them (contract G6).
        takeIn()
        var next: Unmanaged<Operation>?
        if runner.hasReadied {
            if mayGoOn, finished != nil { next = runner.takeOnlyReadied { state.chooseReadied($0, for: runner) } }
            if next == nil { return fileAndAdvance(runner, mayGoOn: mayGoOn) }
        } else if mayGoOn, finished != nil {
            next = state.chooseNext(for: runner)
        }
        if next == nil { return chooseAndUnlock(for: runner, mayGoOn: mayGoOn) }
        lock.unlock()
        return next
    }

    /// Under the lock, which it releases.
    @inline(never)
    private func fileAndAdvance(_ runner: Runner, mayGoOn: Bool) -> Unmanaged<Operation>? {
        let ended = runner.takeReadied { fileLocked($0) }
        let chosen = chooseAndUnlock(for: runner, mayGoOn: mayGoOn)
        for operation in ended { withdraw(operation.takeUnretainedValue()) }
        return chosen
    }

    /// A runner's closure has ended: frees its slot, and chooses what comes next if `mayGoOn`.
    @inline(__always)
    func advanceFromClosure(_ runner: Runner, mayGoOn: Bool) -> Unmanaged<Operation>? {
        lock.lock()
        countOutClosures(1)
        state.endClosure()
        if hasObservers { return tellAndAdvance(runner, mayGoOn: mayGoOn) }
        takeIn()
        if mayGoOn, let next = state.chooseNext(for: runner) {
            lock.unlock()
            return next
        }
        return chooseAndUnlock(for: runner, mayGoOn: mayGoOn)
    }

    /// Under the lock, which it releases: an observer came just before the closure was counted out. Nothing is chosen
    /// before it is told, since it may wait for the queue, which is retained for it.
    @inline(never)
    private func tellAndAdvance(_ runner: Runner, mayGoOn: Bool) -> Unmanaged<Operation>? {
        let queue = owner?.retain()
        _ = chooseAndUnlock(for: runner, mayGoOn: false)
        settleIfObserved()
        queue?.release()
        return mayGoOn ? advance(runner, retiring: nil, mayGoOn: true) : nil
    }

    @inline(__always)
    private func chooseAndUnlock(for runner: Runner, mayGoOn: Bool) -> Unmanaged<Operation>? {
        let (chosen, bands) = settle(choosingFor: mayGoOn ? runner : nil)
        if state.droppedRuns != nil { return dropAndChoose(runner, mayGoOn: mayGoOn, calling: bands) }
        var haveClosuresEnded = false
        if chosen == nil {
            if runner.isInList { state.closureRunners.remove(runner) }
            haveClosuresEnded = entrance.mayBeCounted && endClosures()
        }
        lock.unlock()
        for band in bands { signal(band) }
        if haveClosuresEnded { countOut(Self.anyClosures) }
        return chosen
    }

    /// Under the lock, which it releases: nothing was chosen, since cancelled closures are to be released first.
    @inline(never)
    private func dropAndChoose(_ runner: Runner, mayGoOn: Bool, calling bands: BandSet) -> Unmanaged<Operation>? {
        var next = state.takeDropped()
        lock.unlock()
        for band in bands { signal(band) }
        var count = 0
        while let link = next {
            let run = Unmanaged<ClosureRun>.fromOpaque(link.toOpaque())
            run._withUnsafeGuaranteedRef {
                next = $0.next
                count += $0.remaining
            }
            run.release()
        }
        lock.lock()
        countOutClosures(count)
        if hasObservers { return tellAndAdvance(runner, mayGoOn: mayGoOn) }
        return chooseAndUnlock(for: runner, mayGoOn: mayGoOn)
    }

    /// Files in one step what a runner has kept.
    func fileReadied(of runner: Runner) {
        lock.lock()
        let ended = runner.takeReadied { fileLocked($0) }
        unlockAfterFiling()
        for operation in ended { withdraw(operation.takeUnretainedValue()) }
    }

    // MARK: Closures without objects

    /// Under the lock.
    @inline(__always)
    private func countOutClosures(_ count: Int) {
        endedClosures.store(endedClosures.load(ordering: .relaxed) + count, ordering: .sequentiallyConsistent)
    }

    /// Whether all closures have ended, so that they are to be counted out. Under the lock, by a runner that found
    /// nothing to do: the last of them comes here.
    private func endClosures() -> Bool {
        let ended = endedClosures.load(ordering: .relaxed)
        return entrance.addedCount == ended && entrance.endCounting(ended)
    }

    /// Makes objects of all closures. Under the lock, with the inbox empty.
    private func makeObjectsOfClosures() {
        if entrance.addedCount == endedClosures.load(ordering: .relaxed) { return }
        let count = state.makeObjects(of: self)
        // They are counted twice for a moment: never too few.
        countIn(count)
        countOutClosures(count)
    }

    /// The object for the closure that the calling thread's runner runs.
    func makeObject(for runner: Runner) -> Operation? {
        lock.withLock {
            if case .executing(let operation) = runner.makeObject(of: self) {
                state.isExecuting(operation)
                countIn(1)
                countOutClosures(1)
            }
            return runner.closureObject
        }
    }

    /// Puts a closure that was taken, and not begun, back to the front of the ready ones, as an object. False if
    /// another thread did.
    func putBackClosure(of runner: Runner) -> Bool {
        lock.lock()
        guard case .inHand(let operation) = runner.makeObject(of: self) else {
            lock.unlock()
            return false
        }
        state.takeBack(operation)
        countIn(1)
        countOutClosures(1)
        let bands = settle().bandsToCall
        lock.unlock()
        for band in bands { signal(band) }
        return true
    }

    /// Takes back an operation that a worker has chosen and whose overridden `isReady` says no. False if it has to be
    /// asked again.
    func takeBack(_ operation: Operation) -> Bool {
        lock.withLock { state.takeBack(operation) }
    }

    /// Puts an operation that was chosen, and not started, back to the front of the ready ones. False if it is finished.
    func putBack(_ operation: Operation) -> Bool {
        lock.lock()
        let isPutBack = state.putBack(operation)
        let bands = settle().bandsToCall
        lock.unlock()
        for band in bands { signal(band) }
        return isPutBack
    }

    /// An operation has finished by its own account: frees its slot, if it had one, and lets it leave. Called by the
    /// one thread whose transition finished it, or that was filing it then.
    func withdraw(_ operation: Operation) {
        lock.lock()
        inbox.takeAll { state.admit($0) }
        while operation.place.kind == .none {
            // The adding thread has made the operation known, and is about to push it into the inbox.
            lock.unlock()
            sched_yield()
            lock.lock()
            inbox.takeAll { state.admit($0) }
        }
        state.retire(operation)
        let bands = settle().bandsToCall
        lock.unlock()
        for band in bands { signal(band) }
        leave(.passUnretained(operation))
    }

    /// An operation has left the queue: releases it and counts it out. Without the lock, since its deinit may run.
    func leave(_ operation: Unmanaged<Operation>) {
        let isBarrier = operation._withUnsafeGuaranteedRef { $0.isBarrier }
        operation.release()
        if isBarrier { return countOut(Self.oneBarrier) }
        // Retained until the observers have been told: this may be the last operation of a queue that was dropped.
        let queue = hasObservers ? owner?.retain() : nil
        announcing([.operations, .operationCount]) { countOut(1) }
        queue?.release()
    }

    private func countOut(_ count: Int) {
        // Releasing: pairs with the acquiring loads of a thread that waits for the queue.
        if unfinished.subtract(count, ordering: .sequentiallyConsistent).newValue == 0 {
            if drainWaiters.load(ordering: .sequentiallyConsistent) > 0 {
                drainings.add(1, ordering: .sequentiallyConsistent)
                Futex.wake(drainings, count: .max)
                resumeDrainAwaiters()
            }
            owner?.release()
        }
    }

    /// An operation that holds a slot begins (+1) or ends (−1) an engine wait.
    func countWaitingInside(_ change: Int) {
        let bands = lock.withLock {
            state.waitingInside += change
            return settle().bandsToCall
        }
        for band in bands { signal(band) }
    }

    /// How many more workers could run something of this queue now.
    var wantedWorkers: Int {
        lock.withLock {
            takeIn()
            let ended = endedClosures.load(ordering: .relaxed)
            return state.wantedWorkers(closures: entrance.addedCount - ended - state.runningClosures)
        }
    }

    /// Whether nothing executes, and nothing could if it were let.
    var isStandingStill: Bool {
        lock.withLock {
            takeIn()
            return state.isStandingStill
        }
    }

    /// Whether `other` cannot start before `holder` has ended, which has begun in this queue: it waits in this queue
    /// too, and `holder` has the only slot.
    func isOnlySlot(of holder: Operation, neededBy other: Operation) -> Bool {
        guard isKept(other) else { return false }
        return lock.withLock {
            state.limit == 1 && holder.place.kind == .executing && holder.place.level != .slotless && isKept(other)
        }
    }

    /// Whether an operation is in this queue, not begun and not cancelled.
    private func isKept(_ operation: Operation) -> Bool {
        let word = operation.state.load()
        // From enqueued on the operation's queue is written down for good.
        return word.phase.rawValue >= OperationState.Phase.enqueued.rawValue && operation.isPending
            && operation.queue?.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
    }

    // MARK: The user's side

    /// Changes the limit or the suspension, and starts what may start now.
    func change(_ body: (inout QueueState) -> Void) {
        let bands = lock.withLock {
            body(&state)
            return settle().bandsToCall
        }
        for band in bands { signal(band) }
    }

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
        let bands = settle().bandsToCall
        lock.unlock()
        for band in bands { signal(band) }
        // Released outside the lock.
        return withExtendedLifetime(replaced) { true }
    }

    /// Sets the band for operations added from here on; see `newcomersBand`.
    func setNewcomersBand(_ band: NiceBand) { newcomersBand.store(band.index, ordering: .relaxed) }

    /// The queue that this is the inside of. Only while it has an unfinished operation, which keeps it alive.
    var liveOwner: OperationQueue? { owner?.takeUnretainedValue() }

    func read<Value>(_ body: (borrowing QueueState) -> Value) -> Value { lock.withLock { body(state) } }

    /// The unfinished operations in the order of adding; with the barriers, if they are to be cancelled.
    func snapshot(withBarriers: Bool = false) -> [Operation] {
        let (all, bands) = lock.withLock {
            takeIn()
            makeObjectsOfClosures()
            // A closure that was taken back out of a runner's hands needs another one.
            return (state.snapshot(withBarriers: withBarriers), settle().bandsToCall)
        }
        for band in bands { signal(band) }
        return Self.inOrder(all)
    }

    private static func inOrder(_ all: [(sequence: UInt64, operation: Operation)]) -> [Operation] {
        all.sorted { $0.sequence < $1.sequence }.map(\.operation)
    }

    /// Cancels the closures without objects. What else there is to be cancelled: those that run, and barriers too.
    func cancelClosures() -> [Operation] {
        // Who observes the queue is told of every operation.
        if hasObservers { return snapshot(withBarriers: true) }
        let (all, bands) = lock.withLock {
            takeIn()
            let count = state.makeObjectsOfTaken(of: self)
            countIn(count)
            countOutClosures(count)
            state.cancelWaitingClosures()
            return (state.snapshot(withBarriers: true), settle().bandsToCall)
        }
        for band in bands { signal(band) }
        return Self.inOrder(all)
    }

    /// Sleeps until the queue is empty for an instant, or the deadline passed; true if it was empty.
    ///
    /// Only the count says so. A draining may be the echo of one that came before this wait: the worker that emptied the
    /// queue looks for waiters later, and the queue may have got new operations in between.
    func waitUntilDrained(_ deadline: Deadline) -> Bool {
        if BriefSpin.forDrained.wait(until: { isEmpty }) { return true }
        // The waiter announces itself and then looks at the count; who lowers the count then looks for waiters.
        drainWaiters.add(1, ordering: .sequentiallyConsistent)
        defer { drainWaiters.subtract(1, ordering: .sequentiallyConsistent) }
        while true {
            // Read before the count: a draining after that look makes the sleep return at once.
            let draining = drainings.load(ordering: .sequentiallyConsistent)
            if unfinished.load(ordering: .sequentiallyConsistent) == 0 { return true }
            let remaining = deadline.remainingNanoseconds
            if remaining == 0 { return false }
            Futex.wait(drainings, expected: draining, timeoutNanoseconds: remaining)
        }
    }
}

// MARK: - Awaiting the end of all

extension QueueCore {
    /// Suspends the calling task until the queue is empty for an instant. False if the task is cancelled before.
    ///
    /// As in `waitUntilDrained`, the awaiter is announced before it looks at the count, and who lowers the count then
    /// looks for waiters.
    nonisolated(nonsending) func drained() async -> Bool {
        if isEmpty { return true }
        return await Awaiter.suspend { awaiter, continuation in
            lock.withLock {
                drainWaiters.add(1, ordering: .sequentiallyConsistent)
                let isDrained = isEmpty
                // Whoever looks for waiters from here on finds this one behind the lock.
                if !isDrained, awaiter.enter(&drainAwaiters, continuation) { return nil }
                drainWaiters.subtract(1, ordering: .sequentiallyConsistent)
                return isDrained
            }
        } withdraw: { awaiter in
            self.lock.withLock {
                let continuation = awaiter.cancel(&self.drainAwaiters)
                if continuation != nil { self.drainWaiters.subtract(1, ordering: .sequentiallyConsistent) }
                return continuation
            }
        }
    }

    /// The queue was empty, with waiters there. If it no longer is, this draining may have been before their time: they
    /// wait for the next, whose thread will see them too.
    @inline(never)
    private func resumeDrainAwaiters() {
        let awaiters = lock.withLock {
            guard isEmpty else { return [UnsafeContinuation<Bool, Never>]() }
            let awaiters = drainAwaiters.takeAll()
            drainWaiters.subtract(awaiters.count, ordering: .sequentiallyConsistent)
            return awaiters
        }
        for awaiter in awaiters { awaiter.resume(returning: true) }
    }
}

/// Files the operations that one finishing operation made ready, taking each queue's lock once for a run of them.
struct BatchFiler {
    /// The calling runner, if it advances its queue right afterwards: what belongs there is filed in that same step.
    let own: Unmanaged<Runner>?
    private var locked: QueueCore?
    /// Those whose class overrides `isReady`: to be filed when no lock is held.
    private var toBeAsked: [Operation] = []
    /// Those with observers, as their lists.
    private var toBeTold: [ObserverList<Operation>] = []
    /// Those that have announced their end themselves: to be withdrawn when no lock is held.
    private var ended: [Operation] = []

    init(own: Unmanaged<Runner>?) { self.own = own }

    mutating func file(_ operation: Operation) {
        if operation.state.load().has(OperationState.Word.hasOwnReadiness) { return toBeAsked.append(operation) }
        guard let queue = operation.queue?.takeUnretainedValue() else { return }
        if let own, own._withUnsafeGuaranteedRef({ $0.keepReadied(operation, of: queue) }) { return }
        if queue !== locked {
            unlock()
            queue.lock.lock()
            locked = queue
        }
        if !queue.fileLocked(operation) { ended.append(operation) }
    }

    mutating func unlock() {
        locked?.unlockAfterFiling()
        locked = nil
    }

    /// Files what the runner has kept, since there is much more to come.
    func fileOwn() { own?._withUnsafeGuaranteedRef { $0.fileReadied() } }

    /// The observers of an operation hear of it before it is filed.
    mutating func tellLater(_ observers: ObserverList<Operation>) { toBeTold.append(observers) }

    /// Tells the observed ones, files those whose `isReady` is overridden, and withdraws those that have ended. Without
    /// any lock.
    mutating func fileTheRest() {
        if !toBeTold.isEmpty {
            // The list's weak reference says whether the operation is still there.
            for observers in toBeTold { observers.object?.dependencyHasFinished() }
            toBeTold.removeAll()
        }
        if !toBeAsked.isEmpty {
            for operation in toBeAsked { operation.fileWithQueue() }
            toBeAsked.removeAll()
        }
        if !ended.isEmpty {
            for operation in ended { operation.queue?.takeUnretainedValue().withdraw(operation) }
            ended.removeAll()
        }
    }
}

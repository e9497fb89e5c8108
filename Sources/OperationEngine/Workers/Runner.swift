import CLinux
import Synchronization

/// The execution context of a thread that runs operations for a queue.
///
/// A worker of a pool has one runner for as long as its thread lives. A thread of Dispatch, or the main thread, has one
/// for one lease.
///
/// **One round.** The queue gives the runner something to run (`hand`). The runner runs it to its end, empties the hand
/// and releases what it ran. It keeps the slot meanwhile (`ended`). Then it goes back to the queue, which takes the
/// slot and what became ready, and chooses again, all in one step under its lock (`QueueCore.advance`). So nothing is
/// chosen until all code that the last operation leaves to be called has been called: observers, deinits, completion
/// blocks.
///
/// **One way out.** A lease ends where `advance` finds nothing to run. It takes the runner off the queue's list in the
/// same hold of the lock.
///
/// **Who accesses the fields.** Fields without a comment belong to the runner's own thread. That thread also writes
/// `hand`, under the lock of the queue that it serves, except when it empties it: see `emptyHand`.
final class Runner: Linked {
    /// The worker whose thread this is, which outlives its runner; nil on a thread of Dispatch and on the main thread.
    private let pooled: Unmanaged<Worker>?
    /// Which of a queue's operations the runner may choose.
    let lease: Lease

    /// The queue that it serves, or whose blocks it runs for an operation on another thread. The caller of `serve` or
    /// `helping` retains it.
    @exclusivity(unchecked) private var served: Unmanaged<QueueCore>?
    var queue: QueueCore? { served?.takeUnretainedValue() }
    /// The address of the queue whose lease it has from its pool, also while a completion block runs; else 0.
    @exclusivity(unchecked) private var leased: UInt = 0
    @exclusivity(unchecked) var hand = Hand.nothing
    /// Whether other threads may look at `hand`.
    let handPhase = Atomic<UInt8>(HandPhase.closed.rawValue)
    /// The object that was made of the closure in the hand. Guarded by the queue's lock.
    @exclusivity(unchecked) var closureObject: BlockOperation?
    /// The places of closures that have ended.
    @exclusivity(unchecked) private var closurePlaces = Slab<WaitingClosure>.Places()

    // In the queue's list of its runners, guarded by the queue's lock.
    @exclusivity(unchecked) var links = ListLinks<Runner>()
    @exclusivity(unchecked) var isListed = false

    /// The item that has ended and still holds its slot.
    @exclusivity(unchecked) var ended = Ended.nothing
    /// The operations that a finishing one has made ready in `queue`. Their phase is `filing`, which keeps them alive,
    /// until the queue files them.
    @exclusivity(unchecked) private var firstReadied: Unmanaged<Operation>?
    @exclusivity(unchecked) private var furtherReadied: [Unmanaged<Operation>] = []
    private static let readiedCapacity = 1024
    /// Whether the operation that has ended has a completion block, to be called once its slot is free (contract I7).
    @exclusivity(unchecked) var owesCompletion = false
    /// The objects that a finishing operation has kept alive. Released together with it.
    @exclusivity(unchecked) private var kept: [KeptAlive] = []
    /// How many operations and closures were released and not counted out yet. They are counted out together.
    @exclusivity(unchecked) private var uncounted = 0
    /// Whether the first observer of the queue came too late for the end of what the runner has ended, and is still to be
    /// notified.
    @exclusivity(unchecked) var owesTelling = false
    private static let mostUncounted = 1024

    /// The backoff for the locks of the queues that it serves.
    @exclusivity(unchecked) var lockTurns = LockTurns()
    /// How many operations the runner may still take from a queue while other items wait for its thread.
    @exclusivity(unchecked) private var quantum = 0
    private static let fullQuantum = 16
    /// After this time a runner outside the pool gives up its thread at the end of its operation.
    private let turnEnd: Deadline

    init(of worker: Worker) {
        pooled = .passUnretained(worker)
        turnEnd = .never
        lease = Lease(band: worker.pool.band, target: .pool)
    }

    /// For one lease that lay in a queue of Dispatch.
    init(on target: LeaseTarget) {
        pooled = nil
        turnEnd = Deadline(after: .milliseconds(1))
        lease = Lease(band: .normal, target: target)
    }

    // MARK: Whose thread it is

    /// The calling thread's runner, if it has one. Not retained: it outlives what its thread does.
    @inline(__always)
    static var current: Unmanaged<Runner>? { clinux_current_runner().map { Unmanaged<Runner>.fromOpaque($0) } }

    /// The calling thread's runner, if it has chosen the operation for its queue and is inside its `start`.
    @inline(__always)
    static func about(toStart candidate: Operation) -> Unmanaged<Runner>? {
        guard let runner = current else { return nil }
        return runner._withUnsafeGuaranteedRef { $0.isRunning(candidate) } ? runner : nil
    }

    /// Makes this the calling thread's runner while `body` runs.
    func occupyThread(_ body: () -> Void) {
        let outer = clinux_current_runner()
        clinux_set_current_runner(Unmanaged.passUnretained(self).toOpaque())
        body()
        clinux_set_current_runner(outer)
    }

    /// Whether the thread has the normal thread priority.
    var isNormal: Bool { lease.band == .normal }

    // MARK: Serving a queue

    /// Takes up a lease that lay in a queue of Dispatch.
    func serve(_ queue: QueueCore, calledFor band: NiceBand) {
        queue.takeUpLease(band)
        occupyThread { serve(queue) }
    }

    /// Takes up a lease that lay in the pool.
    func takeUp(_ queue: QueueCore) {
        leased = UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque())
        queue.takeUpLease(lease.band)
        serve(queue)
        leased = 0
    }

    /// Whether the calling thread is a worker of the band's pool that serves the queue.
    static func isServing(_ queue: QueueCore, in band: NiceBand) -> Bool {
        guard let runner = current else { return false }
        return runner._withUnsafeGuaranteedRef {
            $0.leased == UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque()) && $0.lease.band == band
        }
    }

    /// Runs operations of one queue until nothing may start, or other items have their turn.
    private func serve(_ queue: QueueCore) {
        if TraceMarks.threads { traceLease(.leaseTaken, of: queue) }
        served = .passUnretained(queue)
        quantum = Self.fullQuantum
        var mayGoOn = true
        while queue.advance(self, mayGoOn: mayGoOn) {
            switch hand {
            case .closure(let closure): run(closure, of: queue)
            case .operation(let operation): run(operation, of: queue)
            case .guest(let operation): runGuest(operation, of: queue)
            case .nothing: break
            }
            // The hand is empty: a deinit may wait.
            if !kept.isEmpty { kept = [] }
            endPresumption()
            mayGoOn = self.mayGoOn(with: queue)
        }
        assert(isAtRest, "left in the queue")
        served = nil
        if TraceMarks.threads { traceLease(.leaseGivenUp, of: queue) }
    }

    /// Whether nothing of a queue is left here.
    private var isAtRest: Bool {
        guard case .nothing = hand, case .nothing = ended else { return false }
        return !isListed && !hasReadied && uncounted == 0 && !owesCompletion && kept.isEmpty && !owesTelling
    }

    /// Runs an operation that ends in the engine's own `start`. The queue keeps it alive.
    @inline(__always)
    private func run(_ operation: Unmanaged<Operation>, of queue: QueueCore) {
        operation._withUnsafeGuaranteedRef {
            // Begun when it was chosen: see `Word.chosen`. Only this thread ends it.
            let runner = Unmanaged.passUnretained(self)
            if $0.state.load().phase == .executing { $0.run(on: runner) } else { $0.start(on: runner) }
        }
        end(operation, of: queue)
    }

    /// The operation in the hand has ended: releases it.
    @inline(__always)
    func end(_ operation: Unmanaged<Operation>, of queue: QueueCore) {
        emptyHand(of: queue)
        if owesCompletion || queue.hasObservers { return endWithCalls(operation, of: queue) }
        if operation._withUnsafeGuaranteedRef({ $0.isBarrier }) {
            ended = .countedAlone
            return queue.releaseAndCountOut(operation)
        }
        endCountedTogether(by: queue) { operation.release() }
    }

    /// The same if user code has to be called. That code finds the slot free, filed what became ready, and counted out
    /// what has left the queue. So it may wait for the queue's next operation, or for the whole queue (contract I7).
    @inline(never)
    private func endWithCalls(_ operation: Unmanaged<Operation>, of queue: QueueCore) {
        ended = .countedAlone
        queue.freeSlotAndFile(of: self)
        countOutOwed(by: queue)
        guard owesCompletion else { return queue.releaseAndCountOut(operation) }
        owesCompletion = false
        queue.countOutUnreleased()
        served = nil
        callCompletionBlock(of: operation)
        served = .passUnretained(queue)
    }

    /// The item in the hand has ended, and is counted out with others.
    @inline(__always)
    func endCountedTogether(by queue: QueueCore, _ release: () -> Void) {
        // It is still counted itself, so the count does not reach 0 before it is released.
        if uncounted >= Self.mostUncounted { countOutOwed(by: queue) }
        ended = .countedTogether
        release()
        uncounted += 1
    }

    /// Frees a closure whose block was taken out.
    @inline(__always)
    func free(_ closure: WaitingClosure.Pointer) { closure.free(into: &closurePlaces) }

    /// Returns the places of closures, so that a sleeping worker holds back none.
    @inline(__always)
    func returnPlaces() { closurePlaces = Slab<WaitingClosure>.Places() }

    /// Starts an operation that may continue after its `start` has returned, or may refuse to be started. The queue has
    /// it in its list, and frees its slot when it leaves.
    @inline(never)
    private func runGuest(_ chosen: Unmanaged<Operation>, of queue: QueueCore) {
        // It may end and leave the queue while its `start` continues (contract C6). Then nothing else keeps it alive,
        // nor perhaps the queue, which the rest of `start` may use.
        let guest = (chosen.takeUnretainedValue(), queue.liveOwner)
        // What `start` does after the end may wait for the queue like any thread. So the queue has to be counted down
        // before.
        countOutOwed(by: queue)
        withExtendedLifetime(guest) {
            if guest.0.isStillReady(in: queue) { start(guest.0, of: queue) }
            hand = .nothing
        }
    }

    private func start(_ guest: Operation, of queue: QueueCore) {
        // If it has announced its end since it was chosen, it is not started.
        guard guest.state.startGuest() else { return queue.withdraw(guest) }
        guard MethodOverride.start.isPresent(in: guest) else { return guest.start(on: .passUnretained(self)) }
        if TraceMarks.operations { guest.traceStart() }
        guest.start()
        if !guest.state.load().isFinished { guest.watchUnannouncedEnd() }
    }

    /// A piece of work has ended: see `Worker.endPresumption`.
    @inline(__always)
    func endPresumption() { pooled?._withUnsafeGuaranteedRef { $0.endPresumption() } }

    /// Calls an operation's completion block, on a thread of the normal thread priority, and then releases the operation
    /// (contract Q9).
    @inline(__always)
    private func callCompletionBlock(of operation: Unmanaged<Operation>) {
        guard let block = operation._withUnsafeGuaranteedRef({ $0.takeCompletionBlock(free) }) else {
            return operation.release()
        }
        if let pooled, isNormal {
            pooled._withUnsafeGuaranteedRef { $0.call(block.run) }
            operation.release()
        } else {
            WorkerPool.of(.normal).submit(.completion(operation.takeRetainedValue(), block.run))
        }
    }

    /// Whether the runner stays with this queue. It leaves if more workers run than should, or if its quantum is used
    /// up and another queue waits in the pool. A queue of Dispatch does not say what else waits there. So the runner
    /// always leaves it at the quantum's end, or when it has taken long.
    @inline(__always)
    func mayGoOn(with queue: QueueCore) -> Bool {
        guard let pooled else {
            quantum -= 1
            return quantum > 0 && turnEnd.remainingNanoseconds > 0
        }
        return pooled._withUnsafeGuaranteedRef { worker in
            if worker.pool.isCrowded { return false }
            let others = worker.pool.pendingCount - (queue.isCalled(lease.band) ? 1 : 0)
            quantum = others > 0 ? quantum - 1 : Self.fullQuantum
            return quantum > 0
        }
    }

    /// Runs blocks of an operation that another thread runs for the queue. The blocks find that queue as the current
    /// one. The operation holds the slot, so a wait inside the blocks does not count.
    static func helping(_ queue: QueueCore?, _ body: () -> Void) {
        guard let runner = current?.takeUnretainedValue() else { return body() }
        let outer = runner.served
        runner.served = queue.map { .passUnretained($0) }
        body()
        runner.served = outer
    }

    /// Whether the thread is inside the operation's `start`. On the thread itself.
    private func isRunning(_ candidate: Operation) -> Bool {
        switch hand {
        case .nothing: false
        case .operation(let operation), .guest(let operation):
            operation.toOpaque() == Unmanaged.passUnretained(candidate).toOpaque()
        case .closure: objectOfClosure === candidate
        }
    }

    // MARK: What has left the queue

    /// Notes operations that have left its queue, to be counted out with the others.
    func owe(_ count: Int) { uncounted += count }

    @inline(__always)
    var owesNothing: Bool { uncounted == 0 }

    /// Counts out what has run and is not counted out yet. To be called before any code that may wait for the queue and
    /// belongs to no operation that is counted in it.
    func countOutOwed(by queue: QueueCore) {
        if uncounted == 0 { return }
        queue.countOutEnded(uncounted)
        uncounted = 0
    }

    /// Releases what was kept alive during a finish on the calling thread, whose operation has left its queue. If the
    /// thread has something in hand, it is released together with that.
    static func releaseKept() {
        guard let kept = KeptAlive.take() else { return }
        if let runner = current?.takeUnretainedValue(), !runner.hand.isNothing { runner.kept.append(kept) }
    }

    // MARK: What a finishing operation makes ready

    /// Keeps an operation of the runner's own queue for the next `advance`. False if it is another queue's.
    func noteReadied(_ operation: Operation) -> Bool {
        guard let served, operation.queue?.toOpaque() == served.toOpaque() else { return false }
        if firstReadied == nil {
            firstReadied = .passUnretained(operation)
        } else {
            furtherReadied.append(.passUnretained(operation))
        }
        return true
    }

    @inline(__always)
    var hasReadied: Bool { firstReadied != nil }

    /// The choice of `choose`, if exactly one operation was made ready. Otherwise nothing.
    @inline(__always)
    func takeOnlyReadied(_ choose: (Unmanaged<Operation>) -> Choice) -> Choice {
        guard let only = firstReadied, furtherReadied.isEmpty else { return .nothing }
        let choice = choose(only)
        if !choice.isNothing { firstReadied = nil }
        return choice
    }

    /// Hands all of them to `file`.
    func takeReadied(_ file: (Operation) -> Void) {
        guard let first = firstReadied.take() else { return }
        first._withUnsafeGuaranteedRef(file)
        if furtherReadied.isEmpty { return }
        for operation in furtherReadied { operation._withUnsafeGuaranteedRef(file) }
        furtherReadied.removeAll(keepingCapacity: furtherReadied.count <= Self.readiedCapacity)
    }

    // MARK: Blocking

    /// Runs a wait of the calling thread. Meanwhile the slot of the waiting operation counts as blocked, and another
    /// worker may run in place of the calling one (contract O6). In the deinit of an operation that has run, the slot
    /// is given back first.
    ///
    /// - Parameter awaited: what it waits for; nil if the wait has a deadline.
    static func waiting<Result>(for awaited: Awaited?, _ wait: () -> Result) -> Result {
        guard let runner = current?.takeUnretainedValue() else { return wait() }
        runner.freeSlotAndFile()
        let worker = runner.pooled?.takeUnretainedValue()
        let queue = runner.hand.isNothing ? nil : runner.queue
        worker?.beginWait(of: runner, for: awaited)
        queue?.countWaitingInside(1)
        defer {
            queue?.countWaitingInside(-1)
            worker?.endWait()
        }
        return wait()
    }

    /// Gives its queue the slot of what has ended and the operations that became ready.
    func freeSlotAndFile() {
        if case .nothing = ended, !hasReadied { return }
        queue?.freeSlotAndFile(of: self)
    }
}

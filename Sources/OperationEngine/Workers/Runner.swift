import CLinux
import Synchronization

/// The execution context of a thread that runs operations for a queue: which one it is about to start, and what its end
/// leaves to be done.
///
/// A worker of a pool has one for as long as its thread lives, a thread of Dispatch, or the main thread, for one lease.
/// All fields belong to the runner's own thread.
final class Runner {
    /// The worker whose thread this is, which outlives its runner; nil on a thread of Dispatch and on the main thread.
    private let pooled: Unmanaged<Worker>?
    /// Which of a queue's operations the runner may choose.
    let lease: Lease

    /// A copy: each look at a static property is a call.
    private let startOverride = MethodOverride.start

    /// The operation that runs for a queue, and that queue. While the runner helps an operation of another thread with
    /// its blocks, it has the queue alone.
    @exclusivity(unchecked) private(set) var operation: Unmanaged<Operation>?
    @exclusivity(unchecked) private(set) var queue: QueueCore?
    /// What a finishing operation has made ready in `queue`: in the phase `filing`, which keeps it alive, until the
    /// runner advances the queue.
    @exclusivity(unchecked) private var firstReadied: Unmanaged<Operation>?
    @exclusivity(unchecked) private var furtherReadied: [Unmanaged<Operation>] = []
    /// Chosen and not yet started while the one before it is released. Its deinit may wait for this very operation, so
    /// an engine wait gives it back to the queue first.
    @exclusivity(unchecked) private var inHand: Unmanaged<Operation>?
    // The closure of a run that was chosen, until its end; see Runner+Closures.swift.
    let heldClosure = UnsafeMutablePointer<BlockOperation.Block>.allocate(capacity: 1)
    @exclusivity(unchecked) var holdsClosure = false
    /// Whether it was chosen in the phase `inHand`.
    @exclusivity(unchecked) var isInHand = false
    let closurePhase = Atomic<UInt8>(ClosurePhase.none.rawValue)
    /// Its place in the order of adding. Guarded by the queue's lock, as are the object that was made of the closure and
    /// the links in the queue's list of those that run closures.
    @exclusivity(unchecked) var closureSequence: UInt64 = 0
    @exclusivity(unchecked) var closureObject: BlockOperation?
    @exclusivity(unchecked) var nextInList: Unmanaged<Runner>?
    @exclusivity(unchecked) var previousInList: Unmanaged<Runner>?
    @exclusivity(unchecked) var isInList = false
    /// Whether it is about to release a finished operation: what it chooses is begun later.
    @exclusivity(unchecked) private(set) var isReleasing = false
    /// Whether it came upon cancelled operations meanwhile, and has left them for after the release.
    @exclusivity(unchecked) private var hasPostponedDropping = false

    /// Whether the operation that was retired last is among those that the runner counts out together.
    @exclusivity(unchecked) var countsOutLater = false
    /// Operations that were released and are still to be counted out, all together.
    @exclusivity(unchecked) private var uncounted = 0
    private static let mostUncounted = 1024

    /// Left by a finishing operation, to be called once its slot is free (contract I7).
    @exclusivity(unchecked) var completionBlock: (@Sendable () -> Void)?
    /// Of the locks of the queues that it serves.
    @exclusivity(unchecked) var lockTurns = LockTurns()
    /// Operations that the runner may still take from a queue while others wait for its thread.
    @exclusivity(unchecked) private var quantum = 0
    private static let fullQuantum = 16
    /// When a runner outside the pool gives its thread up, at the end of the operation that it runs.
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

    deinit { heldClosure.deallocate() }

    // MARK: Whose thread it is

    /// The calling thread's runner, if it has one. Not retained: it outlives what its thread does.
    @inline(__always)
    static var current: Unmanaged<Runner>? { clinux_current_runner().map { Unmanaged<Runner>.fromOpaque($0) } }

    /// The calling thread's runner, if it has chosen the operation for its queue and is inside its `start`.
    @inline(__always)
    static func about(toStart candidate: Operation) -> Unmanaged<Runner>? {
        guard let runner = current else { return nil }
        let isIt = runner._withUnsafeGuaranteedRef {
            $0.operation?.toOpaque() == Unmanaged.passUnretained(candidate).toOpaque()
                || $0.objectOfRunningClosure === candidate
        }
        return isIt ? runner : nil
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

    // MARK: Running

    /// Takes up a lease that lay in a queue of Dispatch.
    func serve(_ queue: QueueCore, calledFor band: NiceBand) {
        queue.takeUpLease(band)
        occupyThread { serve(queue) }
    }

    /// Takes up a lease that lay in the pool.
    func takeUp(_ queue: QueueCore) {
        queue.takeUpLease(lease.band)
        serve(queue)
    }

    /// Runs operations of one queue until nothing is left that may start, or others are due.
    private func serve(_ queue: QueueCore) {
        self.queue = queue
        quantum = Self.fullQuantum
        var next = queue.advance(self, retiring: nil, mayGoOn: true)
        while let chosen = next {
            if holdsClosure {
                next = runClosure(of: queue)
                continue
            }
            switch run(chosen, of: queue) {
            case .leave, .hasLeft:
                next = queue.advance(self, retiring: nil, mayGoOn: mayGoOn(with: queue))
            case .retire:
                next = retire(chosen, from: queue)
            }
        }
        assert(!isInList, "left in the queue's list")
        let owed = uncounted
        uncounted = 0
        if owed > 0 { queue.countOutLastRetired(owed) }
        self.queue = nil
    }

    /// Takes a finished operation out of the queue and chooses the next one.
    @inline(__always)
    private func retire(_ finished: Unmanaged<Operation>, from queue: QueueCore) -> Unmanaged<Operation>? {
        guard let block = completionBlock.take() else {
            isReleasing = true
            inHand = queue.advance(self, retiring: finished, mayGoOn: mayGoOn(with: queue))
            leave(finished, queue)
            isReleasing = false
            if let next = inHand.take() { return next }
            return hasPostponedDropping ? dropPostponed(of: queue) : nil
        }
        // Slot, lease and place in the queue are given up first: the block may wait for the queue's next operation, or
        // for the whole queue (contract I7).
        _ = queue.advance(self, retiring: finished, mayGoOn: false)
        leave(finished, queue)
        countOutOwed(by: queue)
        self.queue = nil
        callAtNormalPriority(block)
        self.queue = queue
        return mayGoOn(with: queue) ? queue.advance(self, retiring: nil, mayGoOn: true) : nil
    }

    /// Releases a finished operation, and counts it out or sees to it.
    @inline(__always)
    private func leave(_ finished: Unmanaged<Operation>, _ queue: QueueCore) {
        guard countsOutLater else {
            // Observers are told, and may wait for the queue.
            countOutOwed(by: queue)
            return queue.leave(finished)
        }
        finished.release()
        uncounted += 1
        if uncounted >= Self.mostUncounted, inHand != nil { countOutOwed(by: queue) }
    }

    /// Whether the queue's cancelled operations are to wait until the runner has released the one that it has retired. It
    /// then comes back for them at once.
    func postponesDropping() -> Bool {
        hasPostponedDropping = isReleasing
        return isReleasing
    }

    @inline(never)
    private func dropPostponed(of queue: QueueCore) -> Unmanaged<Operation>? {
        hasPostponedDropping = false
        return queue.advance(self, retiring: nil, mayGoOn: mayGoOn(with: queue))
    }

    /// Operations of its queue that have left it are counted out with the others.
    func owe(_ count: Int) { uncounted += count }

    /// Counts out what has been run and is not counted out yet. Before anything that may wait for the queue and belongs to
    /// no operation that is counted in it.
    func countOutOwed(by queue: QueueCore) {
        if uncounted == 0 { return }
        queue.countOutRetired(uncounted)
        uncounted = 0
    }

    /// Starts a chosen operation, which the queue keeps alive.
    private func run(_ chosen: Unmanaged<Operation>, of queue: QueueCore) -> OperationState.AfterStart {
        guard chosen._withUnsafeGuaranteedRef({ startOverride.isPresent(in: $0) }) else {
            return start(chosen, of: queue) { $0.start(on: .passUnretained(self)) }
        }
        // It may end, and leave the queue, while its own `start` goes on (contract C6). Then nobody else keeps it alive,
        // nor perhaps the queue, which the rest of `start` may ask for. Both are alive until `keep`: an end that is
        // announced before that leaves the operation to this runner.
        let kept = (chosen.takeUnretainedValue(), queue.liveOwner)
        // What `start` does after the end waits for the queue like any thread, and has to find it counted down.
        countOutOwed(by: queue)
        queue.countOutEndedClosures()
        return withExtendedLifetime(kept) {
            kept.0.state.keep()
            return start(chosen, of: queue) { $0.start() }
        }
    }

    @inline(__always)
    private func start(
        _ chosen: Unmanaged<Operation>, of queue: QueueCore, by start: (Operation) -> Void
    ) -> OperationState.AfterStart {
        operation = chosen
        let afterStart = chosen._withUnsafeGuaranteedRef { operation in
            if operation.state.load().has(OperationState.Word.hasOwnReadiness) {
                guard operation.isStillReady(in: queue) else { return OperationState.AfterStart.leave }
                // It may have announced its end when it was asked.
                if operation.state.load().isFinished { return operation.state.startHasReturned() }
            }
            start(operation)
            return operation.state.startHasReturned()
        }
        operation = nil
        endPresumption()
        return afterStart
    }

    /// Brings an operation to its end whose block has run already.
    func finishAndRetire(_ executed: Unmanaged<Operation>, of queue: QueueCore) -> Unmanaged<Operation>? {
        operation = executed
        executed._withUnsafeGuaranteedRef { $0.finish(from: .executing, on: .passUnretained(self)) }
        operation = nil
        endPresumption()
        return retire(executed, from: queue)
    }

    @inline(__always)
    func endPresumption() { pooled?._withUnsafeGuaranteedRef { $0.endPresumption() } }

    private func callAtNormalPriority(_ block: @escaping @Sendable () -> Void) {
        if let pooled, isNormal {
            pooled._withUnsafeGuaranteedRef { $0.call(block) }
        } else {
            WorkerPool.of(.normal).submit(.block(block))
        }
    }

    /// Whether the runner keeps to this queue: not when more workers run than should, and not past its quantum when
    /// another queue waits in the pool. A queue of Dispatch does not say what else waits there, and is always given up
    /// at the quantum's end, or when it has taken long.
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

    /// Runs blocks of an operation that another thread runs for the queue: they find it as the current one. The
    /// operation holds the slot, so a wait inside of them does not count.
    static func helping(_ queue: QueueCore?, _ body: () -> Void) {
        guard let runner = current?.takeUnretainedValue() else { return body() }
        let outer = runner.queue
        runner.queue = queue
        body()
        runner.queue = outer
    }

    // MARK: What a finishing operation makes ready

    /// Keeps an operation of the runner's own queue for the next `advance`. False if it is another queue's.
    func keepReadied(_ operation: Operation, of queue: QueueCore) -> Bool {
        guard queue === self.queue else { return false }
        if firstReadied == nil {
            firstReadied = .passUnretained(operation)
        } else {
            furtherReadied.append(.passUnretained(operation))
        }
        return true
    }

    @inline(__always)
    var hasReadied: Bool { firstReadied != nil }

    /// If there is only one, and `choose` takes it: that.
    @inline(__always)
    func takeOnlyReadied(_ choose: (Unmanaged<Operation>) -> Bool) -> Unmanaged<Operation>? {
        guard let only = firstReadied, furtherReadied.isEmpty, choose(only) else { return nil }
        firstReadied = nil
        return only
    }

    /// Hands all of them to `file`; those for which it says false.
    func takeReadied(_ file: (Operation) -> Bool) -> [Unmanaged<Operation>] {
        var rejected: [Unmanaged<Operation>] = []
        guard let first = firstReadied.take() else { return rejected }
        if !first._withUnsafeGuaranteedRef(file) { rejected.append(first) }
        if furtherReadied.isEmpty { return rejected }
        for operation in furtherReadied where !operation._withUnsafeGuaranteedRef(file) { rejected.append(operation) }
        furtherReadied.removeAll(keepingCapacity: furtherReadied.count <= Self.keptReadied)
        return rejected
    }

    private static let keptReadied = 1024

    func fileReadied() {
        if hasReadied { queue?.fileReadied(of: self) }
    }

    // MARK: Blocking

    /// The thread is going to wait in the deinit of an operation: another one may start what it has in hand.
    private func putBackInHand() {
        guard let chosen = inHand, let queue else { return }
        if holdsClosure {
            queue.putBackClosure(of: self)
        } else if chosen._withUnsafeGuaranteedRef({ queue.putBack($0) }) {
            inHand = nil
        }
    }

    /// Runs a wait of the calling thread. The slot of the operation that waits counts as blocked meanwhile, and on a
    /// worker another one takes over its work (contract O6).
    static func waiting<Result>(_ wait: () -> Result) -> Result {
        guard let runner = current?.takeUnretainedValue() else { return wait() }
        runner.putBackInHand()
        let worker = runner.pooled?.takeUnretainedValue()
        let queue = runner.operation != nil || runner.isInsideClosure ? runner.queue : nil
        worker?.beginWait()
        queue?.countWaitingInside(1)
        defer {
            queue?.countWaitingInside(-1)
            worker?.endWait()
        }
        return wait()
    }
}

import CLinux
import Glibc
import OpBenchModel
import Synchronization

/// The body that every backend runs as an operation, with the memory for its traces.
///
/// Backends capture this value: a pointer without reference counting, so that a closure costs every backend the same 16
/// bytes. The traces are preallocated and touched before the clock starts. Calls of backends while the clock runs are
/// inlined, so backends must be in this module: Swift 6.3 inlines nothing of `package` access into another one.
///
/// **The proof of a throughput sample** is one plain store per operation. Each operation has a slot, 0 at the start of
/// a round. The body reads its predecessors' slots on entry and takes the highest (0 if it has none, and 0 if any of
/// them is 0), and on return does `slot += that + 1`. After the clock has stopped, every slot must contain its
/// operation's level: the length of the longest path that ends in it. An operation that did not run leaves 0; one that
/// ran twice adds twice; one that started before the return of one of its predecessors was visible to it read 0, and
/// its slot is too low. Only two runs of one operation whose load and store fall into the same few nanoseconds could
/// escape; check samples count with atomics.
package struct OperationBody: @unchecked Sendable {
    package enum Mode: Sendable {
        /// The work alone, to learn what the store costs.
        case bare
        /// The work and the store.
        case marked
        /// The store and the time stamps.
        case stamped
        /// As `stamped`, with the threads that submit and execute, each operation's notification, and its thread's time
        /// without a processor.
        case traced
        /// As `stamped`, and counted with atomics.
        case checked
    }

    let state: UnsafeMutablePointer<State>

    package struct State {
        package var mode: Mode
        package let operationCount: Int
        package let slots: UnsafeMutablePointer<UInt32>
        package let predecessorDistance: Int
        package let predecessors: GraphRows?
        package let iterationsPerItem: UInt64
        /// Whether there is any work.
        package let hasWork: Bool
        package let blocking: BlockedWork?
        /// Nil unless operations differ in their work.
        package let recorded: RecordedBodies?
        /// Does the work of items instead of the kernel, until the sample is over.
        package var chosen: ChosenBody?
        /// Whether the work is more than the kernel and a stall.
        package let isSpecial: Bool
        /// Whether an operation is running until `didAnnounceEnd`.
        package let announcesEnds: Bool
        package let itemsPerOperation: Int
        package let lastItems: Int
        /// The operation that stalls, and for how long; -1 for none.
        package let stalledOperation: Int
        package let stallNanoseconds: Int64
        /// Stamps, one per operation and kind; empty where the mode takes none.
        package let stamps: UnsafeMutablePointer<Int64>
        package let stampCount: Int
        package let takesThreadFigures: Bool
        package let counters: UnsafeMutablePointer<Counters>
    }

    /// Counted in check samples only.
    package struct Counters: ~Copyable {
        package let runs = Atomic<Int>(0)
        package let running = Atomic<Int>(0)
        package let highWater = Atomic<Int>(0)
        /// Written by barriers only, which nothing runs beside.
        package var barriersEnded: UInt32 = 0
    }

    package typealias Stamp = RoundTraces.Stamp

    package init(plan: WorkloadPlan, kernel: WorkKernel, mode: Mode) {
        let count = plan.operationCount
        let slots = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
        slots.initialize(repeating: 0, count: count)
        let takesThreadFigures = plan.threadPriorities != nil && mode != .traced
        let kinds = mode == .traced ? Stamp.traced : takesThreadFigures ? Stamp.withThreads : Stamp.common
        let stampCount =
            switch mode {
            case .bare, .marked: 0
            case .stamped, .traced, .checked: count * kinds
            }
        let stamps = UnsafeMutablePointer<Int64>.allocate(capacity: max(1, stampCount))
        stamps.initialize(repeating: 0, count: max(1, stampCount))
        let counters = UnsafeMutablePointer<Counters>.allocate(capacity: 1)
        counters.initialize(to: Counters())
        state = .allocate(capacity: 1)
        let iterations = kernel.iterations(nanoseconds: plan.workNanoseconds)
        let blocking = plan.blocking.map { BlockedWork($0, of: count) }
        let recorded = plan.replay.map { RecordedBodies($0, kernel) }
        let chosen = plan.body.flatMap { ChosenBody.made($0, kernel) }
        state.initialize(
            to: State(
                mode: mode, operationCount: count, slots: slots, predecessorDistance: plan.predecessorDistance,
                predecessors: plan.graph.map { GraphRows($0.predecessors) },
                iterationsPerItem: iterations,
                hasWork: iterations > 0 || blocking != nil || recorded != nil || chosen != nil
                    || plan.stalledOperation >= 0,
                blocking: blocking, recorded: recorded, chosen: chosen,
                isSpecial: blocking != nil || recorded != nil || chosen != nil,
                announcesEnds: plan.announcedEnd != nil,
                itemsPerOperation: plan.itemsPerOperation, lastItems: plan.lastItems,
                stalledOperation: plan.stalledOperation, stallNanoseconds: Int64(plan.stall?.nanoseconds ?? 0),
                stamps: stamps, stampCount: stampCount, takesThreadFigures: takesThreadFigures, counters: counters))
    }

    /// Gives the traces up, and what a chosen body holds. Nothing should run the body any more; a backend that does is
    /// detected until the traces are freed, when two more bodies have been given up.
    package func deallocate() {
        state.pointee.chosen?.release()
        state.pointee.chosen = nil
        Self.leftovers.keep(self)?.free()
    }

    private static let leftovers = Leftovers<OperationBody>(count: 2)

    private func free() {
        state.pointee.slots.deallocate()
        state.pointee.stamps.deallocate()
        state.pointee.predecessors?.deallocate()
        state.pointee.recorded?.deallocate()
        state.pointee.counters.deinitialize(count: 1)
        state.pointee.counters.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Clears the last round. Nothing may run the body meanwhile.
    package func reset() {
        state.pointee.slots.update(repeating: 0, count: state.pointee.operationCount)
        state.pointee.stamps.update(repeating: 0, count: state.pointee.stampCount)
        state.pointee.counters.pointee.runs.store(0, ordering: .relaxed)
        state.pointee.counters.pointee.highWater.store(0, ordering: .relaxed)
        state.pointee.counters.pointee.barriersEnded = 0
    }

    /// Switches between the modes that take no stamps.
    package func setMarks(_ isMarking: Bool) { state.pointee.mode = isMarking ? .marked : .bare }

    /// Whether the rounds of a stamped body take their stamps, to learn what those cost. Nothing may run it meanwhile.
    package func setStamps(_ isStamping: Bool) { state.pointee.mode = isStamping ? .stamped : .marked }

    /// The same of a traced body.
    package func setTrace(_ isTracing: Bool) { state.pointee.mode = isTracing ? .traced : .marked }
}

// MARK: - Called by backends

extension OperationBody {
    @inline(__always)
    package func run(_ operation: Int) {
        switch state.pointee.mode {
        case .marked: mark(operation)
        case .bare: work(operation)
        case .stamped: runStamped(operation)
        case .traced: runTraced(operation)
        case .checked: runChecked(operation)
        }
    }

    /// Just before the call that submits the operation.
    @inline(__always)
    package func willSubmit(_ operation: Int) {
        guard takesStamps else { return }
        if state.pointee.mode == .traced { stampSubmitter(operation) }
        stamp(.submit, operation, MonotonicClock.now())
    }

    /// Just after that call has returned.
    @inline(__always)
    package func didSubmit(_ operation: Int) {
        if takesStamps { stamp(.submitted, operation, MonotonicClock.now()) }
    }

    /// The same for one call that submits many; `operation` gives each one's number.
    package func submitTogether(_ operations: Range<Int>, in plan: WorkloadPlan, by call: () -> Void) {
        guard takesStamps else { return call() }
        if state.pointee.mode == .traced {
            for index in operations { stampSubmitter(plan.operation(at: index)) }
        }
        let before = MonotonicClock.now()
        call()
        let after = MonotonicClock.now()
        for index in operations {
            stamp(.submit, plan.operation(at: index), before)
            stamp(.submitted, plan.operation(at: index), after)
        }
    }

    /// On entry of the operation's completion block.
    package func didNotify(_ operation: Int) {
        if takesStamps { stamp(.notified, operation, MonotonicClock.now()) }
    }

    /// How an operation waits for its partner with the backend's own means. Set before anything is submitted, and used
    /// in plans of operations that wait for one another only.
    package func setWait(_ wait: @escaping @Sendable (Int) -> Void) { state.pointee.blocking?.wait = wait }

    /// An observer has been notified of the operation's finish. Calls for one operation follow one another.
    @inline(__always)
    package func didNotice(_ operation: Int) { state.pointee.slots[operation] &+= RoundTraces.noticeMark }

    /// The end of an asynchronous operation, just before it is announced; after its `run` has returned.
    @inline(__always)
    package func didAnnounceEnd(_ operation: Int) {
        didNotice(operation)
        guard takesStamps else { return }
        stamp(.end, operation, MonotonicClock.now())
        didEndChecked()
    }

    /// Counted in check samples only.
    func didEndChecked() {
        if state.pointee.mode == .checked { state.pointee.counters.pointee.running.subtract(1, ordering: .relaxed) }
    }

    /// Just before the call that starts the operation by hand: it is submitted and ready at once.
    @inline(__always)
    package func willStart(_ operation: Int) {
        willSubmit(operation)
        didSubmit(operation)
    }

    /// In place of `run`, between barriers: the slot counts the barriers that had ended.
    @inline(__always)
    package func runBesideOthers(_ operation: Int) {
        let counters = state.pointee.counters
        let before = counters.pointee.barriersEnded
        run(operation)
        let isBeside = counters.pointee.barriersEnded != before
        state.pointee.slots[operation] &+= before &+ (isBeside ? RoundTraces.besideBarrier : 0)
    }

    /// In place of `run`, for a barrier.
    @inline(__always)
    package func runBarrier(_ operation: Int) {
        runBesideOthers(operation)
        state.pointee.counters.pointee.barriersEnded &+= 1
    }

    /// In place of `run`, for an operation that has ended because it was cancelled.
    @inline(__always)
    package func didEndCancelled(_ operation: Int) { state.pointee.slots[operation] &+= RoundTraces.cancelledMark }

    /// Whether a backend should set a completion block for the sake of the stamp `notified`: on every operation of a
    /// traced sample; on every eighth of a stamped one, so that the blocks hardly weigh on the other stages.
    @inline(__always)
    package func wantsNotification(_ operation: Int) -> Bool {
        takesStamps && (operation & 7 == 0 || state.pointee.mode == .traced)
    }

    /// Whether this is a sample that times operations.
    @inline(__always)
    package var takesStamps: Bool {
        switch state.pointee.mode {
        case .stamped, .traced, .checked: true
        case .bare, .marked: false
        }
    }

    @inline(__always)
    package func stamp(_ kind: Stamp, _ operation: Int, _ value: Int64) {
        state.pointee.stamps[place(kind, operation)] = value
    }

    /// The index of a stamp, which the mode must take.
    @inline(__always)
    private func place(_ kind: Stamp, _ operation: Int) -> Int {
        let place = kind.row * state.pointee.operationCount + operation
        assert(place < state.pointee.stampCount, "\(state.pointee.mode) takes no stamp \(kind)")
        return place
    }

    @inline(__always)
    func mark(_ operation: Int) {
        let slots = state.pointee.slots
        let before = markBefore(operation, slots)
        work(operation)
        slots[operation] &+= before &+ 1
    }

    /// The highest mark of the predecessors; 0 without any, and if one of them has not returned.
    @inline(__always)
    func markBefore(_ operation: Int, _ slots: UnsafeMutablePointer<UInt32>) -> UInt32 {
        let distance = state.pointee.predecessorDistance
        if distance > 0 { return operation >= distance ? slots[operation - distance] : 0 }
        guard let predecessors = state.pointee.predecessors else { return 0 }
        var highest: UInt32 = 0
        for predecessor in predecessors[operation] {
            let mark = slots[Int(predecessor)]
            if mark == 0 { return 0 }
            highest = max(highest, mark)
        }
        return highest
    }

    @inline(__always)
    func work(_ operation: Int) {
        guard state.pointee.hasWork else { return }
        if state.pointee.isSpecial { return workSpecially(operation) }
        if operation == state.pointee.stalledOperation { standStill() }
        compute(operation)
    }

    @inline(__always)
    private func compute(_ operation: Int) {
        let iterations = state.pointee.iterationsPerItem
        for _ in 0..<itemCount(of: operation) { WorkKernel.run(iterations) }
    }

    @inline(__always)
    private func itemCount(of operation: Int) -> Int {
        let isLast = operation == state.pointee.operationCount - 1
        return isLast ? state.pointee.lastItems : state.pointee.itemsPerOperation
    }

    /// The work of plans whose operations wait, were recorded, or have a chosen body.
    @inline(never)
    func workSpecially(_ operation: Int) {
        if let recorded = state.pointee.recorded { return replay(operation, recorded) }
        if let blocking = state.pointee.blocking { block(operation, blocking) }
        if operation == state.pointee.stalledOperation { standStill() }
        // Borrowed: a reference count would be a line that all threads write to.
        guard let chosen = state.pointee.chosen.map(Unretained.init) else { return compute(operation) }
        let first = operation * state.pointee.itemsPerOperation
        for item in first..<first + itemCount(of: operation) { chosen { $0.run(item) } }
    }

    /// An operation that waited for another counts what that one left, as one with a predecessor does.
    @inline(never)
    func block(_ operation: Int, _ blocking: BlockedWork) {
        guard let partner = blocking.partner(of: operation) else { return sleep(blocking.nanoseconds) }
        blocking.wait?(partner)
        state.pointee.slots[operation] &+= state.pointee.slots[partner]
    }

    /// The work, then the wait.
    @inline(never)
    func replay(_ operation: Int, _ recorded: RecordedBodies) {
        let body = recorded[operation]
        WorkKernel.run(body.iterations)
        if body.wait > 0 { sleep(body.wait) }
    }

    @inline(never)
    func standStill() { sleep(state.pointee.stallNanoseconds) }

    private func sleep(_ nanoseconds: Int64) { MonotonicClock.sleep(until: MonotonicClock.now() + nanoseconds) }

    @inline(never)
    func runStamped(_ operation: Int) {
        let cpu = state.pointee.takesThreadFigures ? MonotonicClock.threadCPU() : 0
        stamp(.start, operation, MonotonicClock.now())
        mark(operation)
        stamp(.end, operation, MonotonicClock.now())
        if state.pointee.takesThreadFigures {
            stamp(.cpu, operation, MonotonicClock.threadCPU() - cpu)
            stamp(.nice, operation, Int64(clinux_thread_nice(0)))
        }
    }

    @inline(never)
    func runTraced(_ operation: Int) {
        stamp(.worker, operation, Int64(ThreadRegister.ownNumber(as: .worker)))
        let start = RunQueue.bodyBegins()
        stamp(.start, operation, start.time)
        mark(operation)
        let end = RunQueue.bodyEnds()
        stamp(.end, operation, end.time)
        let away = max(0, end.time - start.time - (end.cpu - start.cpu))
        stamp(.offProcessor, operation, away)
        stamp(.processorWait, operation, min(away, end.queued - start.queued))
    }

    @inline(never)
    func stampSubmitter(_ operation: Int) {
        stamp(.submitter, operation, Int64(ThreadRegister.ownNumber(as: .submitter)))
    }

    @inline(never)
    func runChecked(_ operation: Int) {
        let counters = state.pointee.counters
        counters.pointee.runs.add(1, ordering: .relaxed)
        let running = counters.pointee.running.add(1, ordering: .relaxed).newValue
        counters.pointee.highWater.max(running, ordering: .relaxed)
        runStamped(operation)
        if !state.pointee.announcesEnds { counters.pointee.running.subtract(1, ordering: .relaxed) }
    }
}

// MARK: - Read after a round

extension OperationBody {
    package var operationCount: Int { state.pointee.operationCount }

    package func slot(_ operation: Int) -> UInt32 { state.pointee.slots[operation] }

    /// A stamp of an operation; 0 if it was not taken.
    @inline(__always)
    package func read(_ kind: Stamp, _ operation: Int) -> Int64 {
        state.pointee.stamps[place(kind, operation)]
    }

    /// When the operation could first have started: the latest of its predecessors' ends and of its submission.
    ///
    /// - Parameter stamp: what counts as its submission: the call's return, or its beginning.
    package func ready(_ operation: Int, since stamp: Stamp = .submitted) -> Int64 {
        let distance = state.pointee.predecessorDistance
        let submitted = read(stamp, operation)
        if let predecessors = state.pointee.predecessors {
            return predecessors[operation].reduce(submitted) { max($0, read(.end, Int($1))) }
        }
        return distance > 0 && operation >= distance ? max(submitted, read(.end, operation - distance)) : submitted
    }

    /// The traces, to be checked against the plan.
    package var traces: RoundTraces {
        RoundTraces(
            slots: state.pointee.slots, stamps: state.pointee.stamps, operationCount: operationCount,
            hasStamps: takesStamps)
    }

    /// Bodies entered, as counted by a check sample.
    package var countedRuns: Int { state.pointee.counters.pointee.runs.load(ordering: .relaxed) }

    /// The most bodies seen running at once by a check sample.
    package var highWater: Int { state.pointee.counters.pointee.highWater.load(ordering: .relaxed) }
}

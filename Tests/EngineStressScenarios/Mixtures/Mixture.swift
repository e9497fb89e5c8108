import Glibc
import OperationEngine
import Synchronization
import TestSupport

/// One run of a mixture: its queues and what is added to them, the threads that add, storm and announce ends, and the
/// end, at which all must finish.
final class Mixture: @unchecked Sendable {
    let run: StressRun
    let profile: MixtureProfile
    let plan: MixturePlan
    let history = History()
    let live = LiveCount()
    /// Announces the ends that come after `start`.
    let finisher = Finisher()
    /// Releases what it is handed, however long that takes.
    let releaser = Finisher()
    let queues: [MixtureQueue]
    /// Above all other queues: its closures list and cancel in them, and what they release may wait for anything.
    let steward = OperationQueue()
    /// The lock that observers of `locking` queues take.
    let observersLock = Guarded(0)
    /// Written by `prepare`, before any other thread.
    private(set) var items: [MixtureItem] = []
    private var tokens: [Observation] = []
    private let isDescribed = Atomic<Bool>(false)

    static func play(_ run: StressRun, _ profile: MixtureProfile) {
        HastyThread.isCurrent = true
        defer { HastyThread.isCurrent = false }
        MisuseWatch.during(run) {
            let program = Mixture(run, profile)
            let loads = program.prepare()
            run.describe { [unowned program] in program.stateOfAffairs }
            // What hangs keeps the program.
            guard program.perform(loads) else { return run.describe { "" } }
            program.judge()
            program.release()
            run.count(run.size)
        }
    }

    private init(_ run: StressRun, _ profile: MixtureProfile) {
        self.run = run
        self.profile = profile
        var random = run.generator()
        plan = MixturePlan(profile, size: run.size, &random)
        queues = plan.queues.map(MixtureQueue.init)
        steward.maxConcurrentOperationCount = 2
        finisher.perform { HastyThread.isCurrent = true }
    }

    /// How long a wait may last that must end. Shorter than the watchdog's patience, which is for all the others.
    var limit: Duration { Watchdog.patience * 2 / 3 }

    // MARK: The beginning

    /// The operations that one thread adds, in order. It releases each operation as it adds it.
    private final class Load: @unchecked Sendable {
        let queue: MixtureQueue
        let items: [MixtureItem]
        private var operations: [Operation?]

        init(_ queue: MixtureQueue, _ items: [MixtureItem], _ operations: [Operation?]) {
            self.queue = queue
            self.items = items
            self.operations = operations
        }

        func take(_ place: Int) -> Operation { operations[place].take()! }
    }

    private func prepare() -> [Load] {
        items = plan.parts.enumerated().map { MixtureItem($0, $1) }
        let operations = items.map { MixtureFactory.make($0, self) }
        for (item, operation) in zip(items, operations) {
            guard let operation else { continue }
            item.operation = operation
            for dependency in item.part.dependencies { operation.addDependency(operations[dependency]!) }
            if item.part.isWatched { watch(item, operation) }
        }
        for record in queues { listen(to: record) }
        return queues.flatMap { record in
            (0..<record.plan.adders).map { adder in
                let mine = items.filter { $0.part.queue == record.plan.rank && $0.part.adder == adder }
                return Load(record, mine, mine.map { operations[$0.index] })
            }
        }
    }

    private func watch(_ item: MixtureItem, _ operation: Operation) {
        tokens.append(
            operation.observe(\.isFinished) { [run] operation, _ in
                item.finishesHeard.add(1, ordering: .relaxed)
                run.require(operation.hasEnded, "\(item): its end is announced before it is finished (contract D8)")
            })
    }

    // MARK: The course

    /// False, with a violation, if something never ends.
    private func perform(_ loads: [Load]) -> Bool {
        let storms = (0..<profile.stormThreads).map { thread in
            hastyThread { [self] in MixtureStorm(self, thread: thread).rage() }
        }
        let adders = loads.enumerated().map { number, load in hastyThread { [self] in add(load, number) } }
        let ender = hastyThread { [self] in endEarly() }
        let locker = hastyThread { [self] in holdLock() }
        // The storms first: an adding thread may be held up by an observer, who is held up by a queue that they
        // suspended.
        for storm in storms { storm.join() }
        letAllRun()
        for thread in adders + [locker, ender] { thread.join() }
        for queue in queues.map(\.queue) + [steward] {
            guard requireInTime(queue.waitUntilFinished(timeout: limit), "\(queue) never drains (contract M11)") else {
                return false
            }
        }
        releaser.end()
        finisher.end()
        run.await { items.allSatisfy { !mustComplete($0) || $0.completions.load(ordering: .relaxed) > 0 } }
        return true
    }

    private func mustComplete(_ item: MixtureItem) -> Bool { item.part.hasCompletion && item.part.kind.isObject }

    private func hastyThread(_ body: @escaping @Sendable () -> Void) -> OwnThread {
        OwnThread {
            HastyThread.isCurrent = true
            body()
        }
    }

    /// The storm is over: nothing holds anything back from here on.
    private func letAllRun() {
        for record in queues {
            record.queue.maxConcurrentOperationCount = record.plan.limit
            record.queue.isSuspended = false
        }
    }

    private func add(_ load: Load, _ number: Int) {
        var random = run.generator(20 + number)
        var place = 0
        while place < load.items.count {
            if random.hits(10) { usleep(UInt32.random(in: 1...200, using: &random)) }
            let batch = random.hits(80) ? 1 : batchLength(load.items, from: place)
            add(load, place..<place + batch)
            place += batch
        }
    }

    /// How many plain operations and blocks come one after the other.
    private func batchLength(_ items: [MixtureItem], from place: Int) -> Int {
        let first = items[place...].prefix(7).prefix { item in
            switch item.part.kind {
            case .plain, .block: true
            case .closure, .early, .barrier: false
            }
        }
        return max(1, first.count)
    }

    private func add(_ load: Load, _ places: Range<Int>) {
        let (record, queue) = (load.queue, load.queue.queue)
        let begin = history.markCall()
        for item in load.items[places] {
            item.addingThread.store(UInt(pthread_self()), ordering: .relaxed)
            item.addBegin.store(begin, ordering: .relaxed)
            // Before it can be found.
            if !item.part.kind.isBarrier, !item.part.kind.isByHand {
                record.added.add(1, ordering: .acquiringAndReleasing)
            }
        }
        let item = load.items[places.lowerBound]
        switch item.part.kind {
        case .closure:
            record.closuresAdded.add(1, ordering: .acquiringAndReleasing)
            queue.addOperation(MixtureFactory.block(item, self))
        case .barrier:
            queue.addBarrierBlock(MixtureFactory.block(item, self))
        case .early(.byHand):
            start(item, load.take(places.lowerBound))
        case .plain, .block, .early:
            if places.count == 1 {
                queue.addOperation(load.take(places.lowerBound))
            } else {
                queue.addOperations(places.map { load.take($0) }, waitUntilFinished: false)
            }
        }
        let end = history.markCall()
        for item in load.items[places] {
            item.addEnd.store(end, ordering: .releasing)
            item.addingThread.store(0, ordering: .relaxed)
        }
        run.advance()
    }

    /// Starts an operation by hand, cancelled if it has to be.
    private func start(_ item: MixtureItem, _ operation: Operation) {
        if item.index.isMultiple(of: 3) || !operation.isReady {
            item.cancels.add(1, ordering: .relaxed)
            operation.cancel()
        }
        operation.start()
        // After the end, if it was cancelled.
        if item.index.isMultiple(of: 2) { (operation as? any EndableEarly)?.endEarly() }
    }

    // MARK: What the parts do

    /// The main of an operation, or a closure, or a barrier.
    func runBody(of item: MixtureItem) {
        let record = queues[item.part.queue]
        if !item.part.kind.isByHand { record.level.enter() }
        if item.part.kind.isClosure { record.closuresBegun.add(1, ordering: .releasing) }
        run.require(item.runs.add(1, ordering: .relaxed).oldValue == 0, "\(item) runs twice (contract A5)")
        item.started.store(history.mark(), ordering: .relaxed)
        for dependency in item.part.dependencies { requireEnd(of: items[dependency], before: item) }
        if item.part.nap > 0 { usleep(item.part.nap) }
        if let wait = item.part.waitInside { self.wait(wait, of: item, "main") }
        item.runningThread.store(UInt(pthread_self()), ordering: .relaxed)
        item.ended.store(history.mark(), ordering: .relaxed)
        if !item.part.kind.isByHand { record.level.leave() }
        run.advance()
    }

    private func requireEnd(of dependency: MixtureItem, before item: MixtureItem) {
        // One that was freed had finished.
        guard let operation = dependency.operation, !operation.hasEnded else { return }
        // A cancelled one begins whatever it depends on; an asynchronous one looks at that before.
        run.require(item.operation?.isCancelled != false, "\(item) runs before the end of \(dependency) (E1)")
    }

    /// The deinit of an operation, or of what its block has captured.
    func lastWords(of item: MixtureItem) {
        if let other = item.part.lastEnd.map({ items[$0] }), other.isAdded,
            let operation = other.operation as? any EndableEarly
        {
            // At limit 1 with the slot in the hands of this one nobody can have chosen the other.
            let isFirst = isSurelyUnchosen(other, by: item)
            if operation.endEarly(), isFirst { other.wasSurelyUnchosen.store(true, ordering: .relaxed) }
        }
        if let wait = item.part.lastWait { self.wait(wait, of: item, "deinit") }
    }

    /// Whether a worker of their queue releases the operation right after its end, and holds its only slot.
    private func isSurelyUnchosen(_ other: MixtureItem, by item: MixtureItem) -> Bool {
        let record = queues[item.part.queue]
        let isHeldByOthers = plan.parts.contains { part in
            part.dependencies.contains(item.index)
                || [part.waitInside, part.lastWait].contains { $0?.target == item.index }
        }
        return record.plan.limit == 1 && !record.plan.mayChangeLimit && record.plan.listener == .none
            && !isHeldByOthers && !item.part.hasCompletion && item.hasRun && !HastyThread.isCurrent
            && OperationQueue.current === record.queue
    }

    private func wait(_ wait: MixturePlan.Wait, of item: MixtureItem, _ place: String) {
        let other = items[wait.target]
        guard other.isAdded, let operation = other.operation else { return }
        if HastyThread.isCurrent {
            operation.waitUntilFinished(timeout: .microseconds(30))
        } else if wait.isUnlimited {
            operation.waitUntilFinished()
            run.require(operation.hasEnded, "a wait of \(item) for \(other) returns early (contract O1)")
        } else {
            requireInTime(
                operation.waitUntilFinished(timeout: limit), "\(item) waits in its \(place) for \(other) in vain (Q1)")
        }
    }

    /// As `require`, with the state of affairs for the first wait that took too long.
    @discardableResult
    func requireInTime(_ isInTime: Bool, _ rule: @autoclosure () -> String) -> Bool {
        guard !isInTime else { return true }
        run.violated(rule())
        if !isDescribed.exchange(true, ordering: .relaxed) {
            run.note("when the first wait took too long: \(stateOfAffairs)")
        }
        return false
    }

    // MARK: The end

    /// Releases everything; nothing must be left (contract Q2, Q3, Q7).
    private func release() {
        tokens = []
        let released = queues.map { WeakQueue(queue: $0.queue) }
        for record in queues { record.drop() }
        run.describe { [live] in "all is finished, but \(live.value) objects are not released (contract Q2)" }
        run.await { live.value == 0 && released.allSatisfy { $0.queue == nil } }
        run.describe { "" }
    }

    private struct WeakQueue {
        weak var queue: OperationQueue?
    }
}

import OperationEngine
import Synchronization
import TestSupport
import Testing

@Suite("D: observation of queues", .blocking)
struct QueueObservationTests {
    @Test(
        "each option adds to the calls what it says, for every property of a queue", .contract("D4", "D23"),
        arguments: ObservedProperty<OperationQueue>.all)
    func options(property: ObservedProperty<OperationQueue>) {
        for options in observingOptions {
            let (queue, log) = (makeQueue(suspended: true), Recorder<String>())
            queue.name = "before"
            let token = property.observe(queue, options, log)
            property.change(queue)
            #expect(log.entries == property.story(options), "\(options)")
            token.invalidate()
            queue.isSuspended = false
            drains(queue)
        }
    }

    @Test("a batch is one change of the operations and one of their count, one inside the other", .contract("D23"))
    func batch() {
        let queue = makeQueue(suspended: true)
        let (log, tokens) = watch(queue)
        queue.addOperations((0..<3).map { _ in MainOperation() }, waitUntilFinished: false)
        queue.addOperation(MainOperation())
        #expect(
            log.entries == [
                "will operations 0", "will count 0", "count 0→3", "operations 0→3",
                "will operations 3", "will count 3", "count 3→4", "operations 3→4",
            ])
        for token in tokens { token.invalidate() }
        queue.isSuspended = false
        drains(queue)
    }

    @Test("an empty batch is no change", .contract("D23"))
    func emptyBatch() {
        let queue = makeQueue()
        let (log, tokens) = watch(queue)
        queue.addOperations([], waitUntilFinished: true)
        #expect(log.entries == [])
        withExtendedLifetime(tokens) {}
    }

    @Test("every operation that leaves is a change, down to the empty queue", .contract("D23"))
    func leaving() {
        let queue = makeQueue(limit: 3)
        let blockers = (0..<3).map { _ in Blocker() }
        for blocker in blockers { blocker.occupy(queue) }
        let counts = Recorder<[Int?]>()
        let lists = Counter()
        let tokens = [
            queue.observe(\.operationCount, options: [.new, .old]) { counts.append([$1.oldValue, $1.newValue]) },
            queue.observe(\.operations) { _, _ in lists.add() },
        ]
        for (index, blocker) in blockers.enumerated() {
            blocker.release.open()
            lists.wait(for: index + 1)
        }
        #expect(counts.entries == [[3, 2], [2, 1], [1, 0]])
        #expect(queue.operations.isEmpty)
        withExtendedLifetime(tokens) {}
    }

    @Test("every cancelled one that leaves is a change", .contract("D23", "J9"))
    func cancelledLeave() {
        let queue = makeQueue(limit: 1, suspended: true)
        for _ in 0..<4 { queue.addOperation(BlockOperation {}) }
        queue.cancelAllOperations()
        let counts = Recorder<[Int?]>()
        let lists = Counter()
        let tokens = [
            queue.observe(\.operationCount, options: [.new, .old]) { counts.append([$1.oldValue, $1.newValue]) },
            queue.observe(\.operations) { _, _ in lists.add() },
        ]
        queue.isSuspended = false
        lists.wait(for: 4)
        // They take no slot, so that several workers may let them go at once.
        #expect(counts.entries.count == 4 && counts.entries.contains { $0[1] == 0 })
        withExtendedLifetime(tokens) {}
    }

    @Test("an observer may wait for its queue when it hears of a closure's end", .contract("I7", "D23"))
    func observerWaitsAfterClosure() {
        let queue = makeQueue(limit: 1, suspended: true)
        // Added before there is an observer: without an object.
        queue.addOperation {}
        let drained = Gate("the observer's wait ends")
        let token = queue.observe(\.operationCount) { queue, _ in
            queue.waitUntilAllOperationsAreFinished()
            drained.open()
        }
        queue.isSuspended = false
        drained.wait()
        token.invalidate()
    }

    @Test("with several workers all changes are announced, including the empty queue", .contract("D23"))
    func leavingAtOnce() {
        let queue = makeQueue(limit: 4)
        let count = Scale.of(2_000)
        let (changes, zeros) = (Counter(), Counter())
        let token = queue.observe(\.operationCount, options: [.new]) { _, change in
            if change.newValue == 0 { zeros.add() }
            changes.add()
        }
        for _ in 0..<count { queue.addOperation {} }
        changes.wait(for: 2 * count)
        #expect(changes.value == 2 * count)
        #expect(zeros.value >= 1)
        withExtendedLifetime(token) {}
    }

    @Test("a change that others overlap is announced with what came in between", .contract("D23"))
    func overlapping() {
        let queue = makeQueue(suspended: true)
        let (isAdding, goOn) = (Gate("one is about to be added"), Gate("others were added"))
        let pairs = Recorder<[Int?]>()
        let token = queue.observe(\.operationCount, options: [.prior, .old, .new]) { _, change in
            if !change.isPrior { return pairs.append([change.oldValue, change.newValue]) }
            if isAdding.isOpen { return }
            isAdding.open()
            goOn.wait()
        }
        onThreads(2) { thread in
            if thread == 0 { return queue.addOperation {} }
            isAdding.wait()
            for _ in 0..<2 { queue.addOperation {} }
            goOn.open()
        }
        #expect(pairs.entries == [[0, 1], [1, 2], [0, 3]])
        withExtendedLifetime(token) {}
        queue.isSuspended = false
        drains(queue)
    }

    @Test("under load there are as many pairs as changes, and the last call finds the last value", .contract("D23"))
    func overlappingUnderLoad() {
        let queue = makeQueue(limit: 1)
        let (adders, each) = (3, Scale.of(1_500))
        let changes = 2 * adders * each
        let begun = Atomic(0)
        let (pairs, last) = (Recorder<[Int]>(), Guarded<Int?>(nil))
        let token = queue.observe(\.operationCount, options: [.old, .new]) { queue, change in
            let isLast = begun.add(1, ordering: .sequentiallyConsistent).newValue == changes
            pairs.append([change.oldValue ?? -1, change.newValue ?? -1])
            if isLast { last.withLock { $0 = queue.operationCount } }
        }
        onThreads(adders) { _ in
            for _ in 0..<each { queue.addOperation {} }
        }
        #expect(last.wait { $0 != nil } && last.read() == 0)
        eventually("all calls return") { pairs.entries.count >= changes }
        #expect(pairs.entries.count == changes && pairs.entries.joined().allSatisfy { 0...adders * each ~= $0 })
        #expect(pairs.entries.contains { $0[1] == 0 })
        withExtendedLifetime(token) {}
    }

    @Test(
        "one that comes while the queue runs may wait for the queue when it hears of the last operation",
        .contract("D23", "O3"))
    func waitingObserver() {
        let queue = makeQueue(limit: 1, suspended: true)
        let (begun, goOn, waited) = (Gate("the last one runs"), Gate("it is observed"), Counter())
        for _ in 0..<3 { queue.addOperation(MainOperation()) }
        queue.addOperation(
            MainOperation { _ in
                begun.open()
                goOn.wait()
            })
        queue.isSuspended = false
        begun.wait()
        let token = queue.observe(\.operationCount) { queue, _ in
            queue.waitUntilAllOperationsAreFinished()
            waited.add()
        }
        goOn.open()
        waited.wait(for: 1)
        #expect(queue.operationCount == 0)
        withExtendedLifetime(token) {}
    }

    @Test("the observers of a queue that its user dropped hear of the last operation", .contract("D23"))
    func droppedQueue() {
        let blocker = Blocker()
        let emptied = Gate("the count falls to 0")
        var queue: OperationQueue? = makeQueue()
        let token = queue?.observe(\.operationCount, options: .new) { _, change in
            if change.newValue == 0 { emptied.open() }
        }
        if let queue { blocker.occupy(queue) }
        queue = nil
        blocker.release.open()
        emptied.wait()
        withExtendedLifetime(token) {}
    }

    @Test("callbacks may read the queue, add to it, suspend it and cancel what it holds", .contract("D23", "D20"))
    func callbacks() {
        let queue = makeQueue(limit: 2)
        let rest = Atomic(100)
        let token = queue.observe(\.operationCount, options: [.prior, .new, .old]) { queue, change in
            _ = (queue.operations, queue.operationCount, queue.name, queue.description)
            queue.isSuspended = false
            queue.maxConcurrentOperationCount = 2
            if !change.isPrior, rest.subtract(1, ordering: .relaxed).newValue >= 0 { queue.addOperation {} }
            queue.cancelAllOperations()
        }
        queue.addOperation {}
        drains(queue)
        #expect(rest.load(ordering: .relaxed) < 0)
        withExtendedLifetime(token) {}
    }

    @Test("registering while a queue is changed: heard of or found, never neither", .contract("D18", "D23"))
    func registerAgainstSetters() {
        let rounds = Scale.of(10_000)
        let queues = (0..<rounds).map { _ in makeQueue() }
        racing(rounds) { round in
            switch round % 3 {
            case 0: queues[round].isSuspended = true
            case 1: queues[round].maxConcurrentOperationCount = 7
            default: queues[round].name = "changed"
            }
        } observing: { round, heard in
            let queue = queues[round]
            let options: ObservingOptions = [.initial, .new]
            return switch round % 3 {
            case 0: [queue.observe(\.isSuspended, options: options) { heard.note($1.newValue == true, 0) }]
            case 1:
                [queue.observe(\.maxConcurrentOperationCount, options: options) { heard.note($1.newValue == 7, 0) }]
            default: [queue.observe(\.name, options: options) { heard.note($1.newValue == "changed", 0) }]
            }
        }
    }

    @Test("registering while an operation is added", .contract("D18", "D23"))
    func registerAgainstAdding() {
        let rounds = Scale.of(10_000)
        let queues = (0..<rounds).map { _ in makeQueue(suspended: true) }
        racing(rounds) {
            queues[$0].addOperation {}
        } observing: { round, heard in
            let (queue, options): (OperationQueue, ObservingOptions) = (queues[round], [.initial, .new])
            return round.isMultiple(of: 2)
                ? [queue.observe(\.operationCount, options: options) { heard.note($1.newValue == 1, 0) }]
                : [queue.observe(\.operations, options: options) { heard.note($1.newValue?.count == 1, 0) }]
        }
        for queue in queues { queue.isSuspended = false }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    }

    @Test("registering while the last operation leaves", .contract("D18", "D23"))
    func registerAgainstLeaving() {
        let emptied = Counter()
        let rounds = Scale.of(20_000)
        for round in 0..<rounds {
            let queue = makeQueue()
            let started = Atomic(false)
            queue.addOperation { started.store(true, ordering: .releasing) }
            while !started.load(ordering: .acquiring) {}
            for _ in 0..<round % 1_024 { _ = started.load(ordering: .relaxed) }
            let isEmpty = Guarded(false)
            let token = queue.observe(\.operationCount, options: [.initial, .new]) { _, change in
                if change.newValue == 0 { isEmpty.withLock { $0 = true } }
            }
            guard isEmpty.wait(until: { $0 }) else {
                Issue.record("nothing heard in round \(round)")
                return
            }
            emptied.add()
            withExtendedLifetime(token) {}
        }
        #expect(emptied.value == rounds)
    }

    @Test("tokens of a queue end their observation, also in a callback, also after the queue", .contract("D19", "D24"))
    func tokens() {
        var queue: OperationQueue? = makeQueue()
        let heard = Counter()
        let other = Guarded<Observation?>(nil)
        let first = queue?.observe(\.isSuspended) { _, _ in
            heard.add()
            other.read()?.invalidate()
        }
        other.withLock { $0 = queue?.observe(\.isSuspended) { _, _ in heard.add(100) } }
        queue?.isSuspended = true
        #expect(heard.value == 1)
        queue = nil
        first?.invalidate()
    }

    /// Writes down the changes of a queue's operations and their count.
    private func watch(_ queue: OperationQueue) -> (log: Recorder<String>, tokens: [Observation]) {
        let log = Recorder<String>()
        @Sendable func note(_ name: String, _ old: Int?, _ new: Int?, _ isPrior: Bool) {
            let old = old.map(String.init) ?? "-"
            log.append(isPrior ? "will \(name) \(old)" : "\(name) \(old)→\(new.map(String.init) ?? "-")")
        }
        let options: ObservingOptions = [.new, .old, .prior]
        return (
            log,
            [
                queue.observe(\.operations, options: options) {
                    note("operations", $1.oldValue?.count, $1.newValue?.count, $1.isPrior)
                },
                queue.observe(\.operationCount, options: options) {
                    note("count", $1.oldValue, $1.newValue, $1.isPrior)
                },
            ]
        )
    }
}

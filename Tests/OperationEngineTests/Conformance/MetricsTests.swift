import TestSupport
import Testing

@testable import OperationEngine

@Suite("X5: metrics", .blocking)
struct MetricsTests {
    /// The counts without the time.
    private func counts(_ queue: OperationQueue) -> [Int] {
        let metrics = queue.metrics
        #expect(metrics.added == metrics.waiting + metrics.ready + metrics.running + metrics.finished)
        return [
            metrics.added, metrics.started, metrics.finished, metrics.cancelled, metrics.waiting, metrics.ready,
            metrics.running,
        ]
    }

    @Test("a new queue has counted nothing", .contract("X5"))
    func fresh() {
        #expect(makeQueue().metrics == OperationQueue.Metrics())
    }

    @Test("what waits, is ready, runs and has ended, operations and closures alike", .contract("X5"))
    func states() {
        let (queue, obstacle, release) = (makeQueue(limit: 2, suspended: true), Operation(), Gate())
        let dependent = Operation()
        dependent.addDependency(obstacle)
        queue.addOperation(dependent)
        let begun = Counter()
        for _ in 0..<5 {
            queue.addOperation {
                begun.add()
                release.wait()
            }
        }
        #expect(counts(queue) == [6, 0, 0, 0, 1, 5, 0])
        queue.isSuspended = false
        begun.wait(for: 2)
        #expect(counts(queue) == [6, 2, 0, 0, 1, 3, 2])
        release.open()
        eventually("the closures have ended") { queue.metrics.finished == 5 }
        #expect(counts(queue) == [6, 5, 5, 0, 1, 0, 0])
        obstacle.start()
        drains(queue)
        #expect(counts(queue) == [6, 6, 6, 0, 0, 0, 0])
    }

    @Test("what is behind a barrier waits, and barriers count", .contract("X5"))
    func barriers() {
        let queue = makeQueue(suspended: true)
        for _ in 0..<3 { queue.addOperation {} }
        queue.addBarrierBlock {}
        for _ in 0..<4 { queue.addOperation {} }
        #expect(counts(queue) == [8, 0, 0, 0, 5, 3, 0])
        queue.isSuspended = false
        drains(queue)
        // A barrier's slot is given back after the wait has ended.
        eventually("the barrier has ended") { counts(queue) == [8, 8, 8, 0, 0, 0, 0] }
    }

    enum Kind: CaseIterable, Sendable { case closure, block, observed, completing, asynchronous, task, unready }

    private func add(_ kind: Kind, to queue: OperationQueue) -> [Observation] {
        final class Unready: Operation, @unchecked Sendable {
            override var isReady: Bool { super.isReady }
        }
        var operation: Operation?
        var observations: [Observation] = []
        switch kind {
        case .closure: queue.addOperation {}
        case .block: operation = BlockOperation {}
        case .observed:
            let observed = BlockOperation {}
            observations = [observed.observe(\.isFinished) { _, _ in }]
            operation = observed
        case .completing:
            let completing = BlockOperation {}
            completing.completionBlock = {}
            operation = completing
        case .asynchronous: operation = AsynchronousOperation { $0.end() }
        case .task: queue.addOperation { () async in }
        case .unready: operation = Unready()
        }
        if let operation { queue.addOperation(operation) }
        return observations
    }

    @Test("each kind of operation is counted once", .contract("X5"), arguments: Kind.allCases, [1, -1])
    func kinds(kind: Kind, limit: Int) {
        let queue = makeQueue(limit: limit)
        var observations: [Observation] = []
        for _ in 0..<50 { observations += add(kind, to: queue) }
        drains(queue)
        #expect(counts(queue) == [50, 50, 50, 0, 0, 0, 0])
    }

    @Test("in an observed queue, too", .contract("X5"), arguments: Kind.allCases)
    func observed(kind: Kind) {
        let queue = makeQueue()
        let observation = queue.observe(\.operationCount) { _, _ in }
        var observations = [observation]
        for _ in 0..<50 { observations += add(kind, to: queue) }
        drains(queue)
        #expect(counts(queue) == [50, 50, 50, 0, 0, 0, 0])
    }

    @Test("what was cancelled before its turn is counted once", .contract("X5"), arguments: Kind.allCases)
    func cancelled(kind: Kind) {
        let queue = makeQueue(suspended: true)
        var observations: [Observation] = []
        for _ in 0..<50 { observations += add(kind, to: queue) }
        queue.cancelAllOperations()
        #expect(queue.metrics.cancelled == 0 && queue.metrics.ready == 50)
        queue.isSuspended = false
        drains(queue)
        let metrics = queue.metrics
        #expect(metrics.cancelled == 50 && metrics.finished == 50 && metrics.started <= 50)
        #expect(metrics.running == 0 && metrics.ready == 0 && metrics.waiting == 0)
        if kind == .closure || kind == .block { #expect(metrics.started == 0) }
    }

    @Test("one that was cancelled and withdraws its readiness when chosen is counted once", .contract("X5", "F8"))
    func withdrawn() {
        final class Withdrawing: Operation, @unchecked Sendable {
            let isAllowed = Guarded(true)
            override var isReady: Bool { super.isReady && isAllowed.read() }
        }
        let (queue, operation) = (makeQueue(limit: 1, suspended: true), Withdrawing())
        queue.addOperation(operation)
        operation.cancel()
        #expect(queue.metrics.ready == 1)
        operation.isAllowed.withLock { $0 = false }
        queue.isSuspended = false
        eventually("it waits again") { counts(queue) == [1, 0, 0, 0, 1, 0, 0] }
        operation.isAllowed.withLock { $0 = true }
        operation.didChangeValue(for: \.isReady)
        drains(queue)
        #expect(queue.metrics.cancelled == 1 && queue.metrics.finished == 1)
    }

    @Test("an operation that is cancelled while it runs counts as started", .contract("X5"))
    func cancelledLate() {
        let (queue, blocker) = (makeQueue(), Blocker())
        blocker.occupy(queue)
        queue.cancelAllOperations()
        blocker.release.open()
        drains(queue)
        #expect(counts(queue) == [1, 1, 1, 0, 0, 0, 0])
    }

    @Test("reading makes no object of a closure", .contract("X5"))
    func closures() async {
        // In a process of its own, where no other test makes objects.
        await #expect(processExitsWith: .success) {
            let queue = makeQueue(limit: 1)
            let (begun, release) = (Gate(), Gate())
            queue.addOperation {
                begun.open()
                release.wait()
            }
            begun.wait()
            for _ in 0..<100 { queue.addOperation {} }
            #expect(queue.metrics.ready == 100 && queue.metrics.running == 1)
            #expect(LiveObjects.counts[.operation] == nil)
            release.open()
            drains(queue)
        }
    }

    // MARK: The oldest wait

    @Test("the time counts from the first reading that found the oldest operation", .contract("X5"))
    func oldest() {
        var marks = WaitMarks()
        #expect(marks.age(of: nil, added: 5, at: 100) == 0)
        #expect(marks.age(of: 5, added: 6, at: 200) == 0)
        #expect(marks.age(of: 5, added: 9, at: 300) == 100)
        // Number 6 was there at the second reading.
        #expect(marks.age(of: 6, added: 9, at: 450) == 150)
        #expect(marks.age(of: 9, added: 10, at: 500) == 0)
        #expect(marks.age(of: nil, added: 10, at: 600) == 0)
        #expect(marks.age(of: 10, added: 11, at: 700) == 0)
        // Another thread has read the clock later and come earlier.
        #expect(marks.age(of: 10, added: 12, at: 600) == 0)
    }

    @Test("however many readings it waits through, the first one counts", .contract("X5"))
    func manyReadings() {
        var marks = WaitMarks()
        for time in 0..<1_000 {
            #expect(marks.age(of: 3, added: UInt64(4 + time), at: Int64(time)) == Int64(time))
        }
        // Later ones are known less exactly, and never to be older than they are.
        for number in UInt64(4)..<1_000 {
            let age = marks.age(of: number, added: 1_003, at: 1_000)
            #expect(age <= 1_000 - Int64(number) + 3 && age >= 0)
        }
    }

    @Test("nothing that waits, no oldest wait", .contract("X5"))
    func nothingWaits() {
        let (queue, blocker) = (makeQueue(limit: 1), Blocker())
        blocker.occupy(queue)
        _ = queue.metrics
        #expect(queue.metrics.oldestWait == .zero)
        queue.addOperation {}
        #expect(queue.metrics.oldestWait == .zero)
        eventually("the clock goes on") { queue.metrics.oldestWait > .zero }
        blocker.release.open()
        drains(queue)
        #expect(queue.metrics.oldestWait == .zero)
    }

    // MARK: The engine

    @Test("the engine's threads run, sleep or are blocked", .contract("X5"))
    func engine() {
        let (queue, blocker) = (makeQueue(), Blocker())
        blocker.occupy(queue)
        let inside = Gate()
        queue.addOperation {
            inside.open()
            blocker.operation.waitUntilFinished()
        }
        inside.wait()
        eventually("a thread is blocked") { OperationQueue.engineMetrics.blocked >= 1 }
        let metrics = OperationQueue.engineMetrics
        #expect(metrics.threads == metrics.running + metrics.idle + metrics.blocked)
        #expect(metrics.workers == Processors.workers && metrics.threads >= 2)
        #expect(metrics.threadsRequested >= metrics.threads)
        blocker.release.open()
        drains(queue)
        #expect(OperationQueue.engineMetrics.wakeUps >= metrics.wakeUps)
    }
}

import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("N: limits, serial queues, suspension", .blocking)
struct LimitTests {
    @Test("the default limit is −1", .contract("N1"))
    func defaultLimit() {
        #expect(OperationQueue().maxConcurrentOperationCount == -1)
        #expect(OperationQueue.defaultMaxConcurrentOperationCount == -1)
    }

    @Test("at most the limit at once", .contract("N2"), arguments: [1, 2, 3, 7])
    func highWater(limit: Int) {
        let queue = makeQueue(limit: limit)
        let level = HighWater()
        for index in 0..<Scale.of(2_000) {
            let operation = MainOperation { _ in
                level.inside { if index % 16 == 0 { _ = ThreadFacts.count } }
            }
            operation.queuePriority = index % 3 == 0 ? .high : .normal
            queue.addOperation(operation)
        }
        drains(queue)
        #expect(level.peak >= 1 && level.peak <= limit)
    }

    @Test("limit 1 runs one at a time, by readiness, then priority, then order", .contract("N3"))
    func serial() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let operations = numbered(8, into: log)
        operations[1].addDependency(operations[7])
        operations[7].queuePriority = .low
        operations[5].queuePriority = .high
        operations[6].queuePriority = .high
        queue.addOperations(operations, waitUntilFinished: false)
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [5, 6, 0, 2, 3, 4, 7, 1])
    }

    @Test("limit 0 starts nothing; raising it does", .contract("N4"))
    func zero() {
        let queue = makeQueue(limit: 0)
        let runs = Counter()
        for _ in 0..<10 { queue.addOperation { runs.add() } }
        let other = makeQueue()
        for _ in 0..<100 { other.addOperation {} }
        drains(other)
        #expect(runs.value == 0 && queue.operationCount == 10)
        queue.maxConcurrentOperationCount = 2
        drains(queue)
        #expect(runs.value == 10)
    }

    @Test("a raised limit starts waiting work at once", .contract("N6"))
    func raise() {
        let queue = makeQueue(limit: 1)
        let first = Blocker()
        let second = Blocker()
        first.occupy(queue)
        queue.addOperation(second.operation)
        queue.maxConcurrentOperationCount = 2
        second.begun.wait()
        #expect(first.operation.isExecuting && second.operation.isExecuting)
        first.release.open()
        second.release.open()
        drains(queue)
    }

    @Test("a lowered limit lets running work finish, then holds", .contract("N6"))
    func lower() {
        let queue = makeQueue(limit: 3)
        let blockers = (0..<3).map { _ in Blocker() }
        for blocker in blockers { blocker.occupy(queue) }
        queue.maxConcurrentOperationCount = 1
        #expect(blockers.allSatisfy { $0.operation.isExecuting })
        let level = HighWater()
        for _ in 0..<200 { queue.addOperation { level.inside { _ = ThreadFacts.count } } }
        blockers[0].release.open()
        blockers[1].release.open()
        finishes(blockers[0].operation)
        finishes(blockers[1].operation)
        #expect(level.peak == 0)
        blockers[2].release.open()
        drains(queue)
        #expect(level.peak == 1)
    }

    @Test("suspended, running ones go on, nothing new starts, adding is allowed", .contract("N9"))
    func suspend() {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let runs = Counter()
        queue.addOperation { runs.add() }
        queue.isSuspended = true
        #expect(queue.isSuspended)
        queue.addOperation { runs.add() }
        blocker.release.open()
        finishes(blocker.operation)
        let other = makeQueue()
        for _ in 0..<100 { other.addOperation {} }
        drains(other)
        #expect(runs.value == 0)
        queue.isSuspended = false
        drains(queue)
        #expect(runs.value == 2)
    }

    @Test("a resume starts waiting work in order of priority, then of adding", .contract("N10"))
    func resume() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1)
        let operations = numbered(6, into: log)
        operations[4].queuePriority = .veryHigh
        operations[0].queuePriority = .veryLow
        queue.isSuspended = true
        for operation in operations { queue.addOperation(operation) }
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [4, 1, 2, 3, 5, 0])
    }

    @Test("a suspended queue holds its operations although dependents elsewhere wait", .contract("N11"))
    func suspendedDependency() {
        let log = Recorder<Int>()
        let operations = numbered(2, into: log)
        operations[1].addDependency(operations[0])
        let held = makeQueue(suspended: true)
        let queue = makeQueue()
        held.addOperation(operations[0])
        queue.addOperation(operations[1])
        for _ in 0..<100 { queue.addOperation {} }
        eventually("the closures finish") { queue.operationCount == 1 }
        #expect(log.entries.isEmpty && !operations[1].isReady)
        held.isSuspended = false
        drains(held)
        drains(queue)
        #expect(log.entries == [0, 1])
    }
}

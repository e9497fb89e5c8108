import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("P: barriers", .blocking)
struct BarrierTests {
    @Test(
        "a barrier runs after all before it and alone, and all after it later", .contract("P7"),
        arguments: [-1, 1, 2, 4])
    func order(limit: Int) {
        let queue = makeQueue(limit: limit)
        let log = Recorder<Character>()
        let level = HighWater()
        let alone = Recorder<Int>()
        let blocker = Blocker()
        blocker.occupy(queue)
        for letter in "abcd" {
            for _ in 0..<20 {
                queue.addOperation { level.inside { log.append(letter) } }
            }
            queue.addBarrierBlock {
                level.inside { alone.append(level.now) }
                log.append("|")
            }
        }
        blocker.release.open()
        drains(queue)
        let runs = log.entries.split(separator: "|", omittingEmptySubsequences: false)
        #expect(runs.map(Set.init) == [["a"], ["b"], ["c"], ["d"], []])
        #expect(runs.map(\.count) == [20, 20, 20, 20, 0])
        #expect(alone.entries == [1, 1, 1, 1])
    }

    @Test("a barrier waits for operations that execute, and for asynchronous ones to their end", .contract("P7"))
    func waitsForExecuting() {
        let queue = makeQueue(limit: 3)
        let blocker = Blocker()
        blocker.occupy(queue)
        let asynchronous = AsynchronousOperation()
        queue.addOperation(asynchronous)
        asynchronous.started.wait()
        let log = Recorder<String>()
        queue.addBarrierBlock { log.append("barrier") }
        queue.addOperation { log.append("later") }
        settle()
        #expect(log.entries.isEmpty)
        blocker.release.open()
        finishes(blocker.operation)
        settle()
        #expect(log.entries.isEmpty)
        asynchronous.end()
        drains(queue)
        #expect(log.entries == ["barrier", "later"])
    }

    @Test("neither priority nor readiness brings an operation before a barrier", .contract("P7"))
    func overtaking() {
        let queue = makeQueue(limit: 1, suspended: true)
        let log = Recorder<String>()
        queue.addOperation(MainOperation { _ in log.append("before") })
        queue.addBarrierBlock { log.append("barrier") }
        let urgent = MainOperation { _ in log.append("urgent") }
        urgent.queuePriority = .veryHigh
        queue.addOperation(MainOperation { _ in log.append("usual") })
        queue.addOperation(urgent)
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == ["before", "barrier", "urgent", "usual"])
    }

    @Test("dependencies hold on both sides of a barrier, and across it", .contract("P7", "E1"))
    func dependencies() {
        let queue = makeQueue()
        let log = Recorder<Int>()
        let outside = MainOperation { _ in log.append(9) }
        let operations = numbered(4, into: log)
        operations[0].addDependency(operations[1])
        operations[2].addDependency(operations[3])
        operations[3].addDependency(operations[0])
        operations[1].addDependency(outside)
        queue.addOperations([operations[0], operations[1]], waitUntilFinished: false)
        queue.addBarrierBlock { log.append(-1) }
        queue.addOperations([operations[2], operations[3]], waitUntilFinished: false)
        outside.start()
        drains(queue)
        #expect(log.entries == [9, 1, 0, -1, 3, 2])
    }

    @Test("a barrier that an operation of the queue adds runs after that operation", .contract("P7"))
    func fromInside() {
        let queue = makeQueue()
        let log = Recorder<String>()
        queue.addOperation { [unowned queue] in
            queue.addBarrierBlock { log.append("barrier") }
            queue.addOperation { log.append("later") }
            settle()
            log.append("adder")
        }
        drains(queue)
        #expect(log.entries == ["adder", "barrier", "later"])
    }

    @Test("barriers are neither listed nor counted", .contract("P10"))
    func invisible() {
        let queue = makeQueue(suspended: true)
        let operation = MainOperation()
        queue.addOperation(operation)
        queue.addBarrierBlock {}
        let later = MainOperation()
        queue.addOperation(later)
        let (listed, counted) = (Counter(), Counter())
        queue.addBarrierBlock {
            listed.add(queue.operations.count)
            counted.add(queue.operationCount)
        }
        #expect(areSame(queue.operations, [operation, later]) && queue.operationCount == 2)
        queue.isSuspended = false
        drains(queue)
        #expect(queue.operations.isEmpty && queue.operationCount == 0)
        #expect(listed.value == 0 && counted.value == 0)
    }

    @Test("waiting for all operations waits for barriers too", .contract("P7", "O3"))
    func waitCovers() {
        let queue = makeQueue()
        let (begun, release, ran) = (Gate("the barrier begins"), Gate("the barrier is released"), Counter())
        let blocker = Blocker()
        blocker.occupy(queue)
        queue.addBarrierBlock {
            begun.open()
            release.wait()
            ran.add()
        }
        blocker.release.open()
        begun.wait()
        let returned = Gate("the wait returns")
        onNewThread {
            queue.waitUntilAllOperationsAreFinished()
            returned.open()
        }
        settle()
        #expect(!returned.isOpen)
        release.open()
        returned.wait()
        #expect(ran.value == 1)
    }

    @Test(
        "a cancelled operation behind a barrier is finished without its main, before the barrier", .contract("P7", "J5")
    )
    func cancelledBehind() {
        let queue = makeQueue()
        let blocker = Blocker()
        blocker.occupy(queue)
        let (barriers, mains) = (Counter(), Counter())
        queue.addBarrierBlock { barriers.add() }
        let later = MainOperation { _ in mains.add() }
        queue.addOperation(later)
        later.cancel()
        finishes(later)
        #expect(barriers.value == 0)
        blocker.release.open()
        drains(queue)
        #expect(barriers.value == 1 && mains.value == 0)
    }

    @Test("a queue that is dropped runs its barriers", .contract("P7", "Q3"))
    func dropped() {
        let log = Recorder<Int>()
        let (release, done) = (Gate("the operation is released"), Gate("the barrier ran"))
        do {
            let queue = makeQueue()
            queue.addOperation {
                release.wait()
                log.append(1)
            }
            queue.addBarrierBlock {
                log.append(2)
                done.open()
            }
        }
        release.open()
        done.wait()
        #expect(log.entries == [1, 2])
    }
}

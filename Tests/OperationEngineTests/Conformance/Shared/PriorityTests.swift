import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("G: priority", .blocking)
struct PriorityTests {
    @Test("five levels, normal by default", .contract("G1"))
    func levels() {
        let levels: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
        #expect(levels.map(\.rawValue) == [-8, -4, 0, 4, 8])
        #expect(Operation().queuePriority == .normal)
    }

    @Test("a ready low operation runs before an unready high one", .contract("G3", "G9"))
    func readinessFirst() {
        let log = Recorder<String>()
        let queue = makeQueue(limit: 1, suspended: true)
        let low = MainOperation { _ in log.append("low") }
        let high = MainOperation { _ in log.append("high") }
        low.queuePriority = .veryLow
        high.queuePriority = .veryHigh
        high.addDependency(low)
        queue.addOperations([high, low], waitUntilFinished: false)
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == ["low", "high"])
    }

    @Test("among ready operations the highest level starts first", .contract("G4"))
    func highestFirst() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let levels: [Operation.QueuePriority] = [.low, .veryHigh, .normal, .veryLow, .high]
        for level in levels {
            let operation = MainOperation { _ in log.append(level.rawValue) }
            operation.queuePriority = level
            queue.addOperation(operation)
        }
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [8, 4, 0, -4, -8])
    }

    @Test("within a level, the order of adding", .contract("G5"), arguments: [false, true])
    func firstInFirstOut(inBulk: Bool) {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let operations = numbered(200, into: log)
        if inBulk {
            queue.addOperations(operations, waitUntilFinished: false)
        } else {
            for operation in operations { queue.addOperation(operation) }
        }
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == Array(0..<200))
    }

    @Test("levels and order of adding together", .contract("G4", "G5"))
    func levelsAndOrder() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let operations = numbered(100, into: log)
        let levels: [Operation.QueuePriority] = [.normal, .veryLow, .veryHigh, .low, .high]
        for (index, operation) in operations.enumerated() {
            operation.queuePriority = levels[index % 5]
            queue.addOperation(operation)
        }
        queue.isSuspended = false
        drains(queue)
        let expected = [2, 4, 0, 3, 1].flatMap { level in (0..<20).map { $0 * 5 + level } }
        #expect(log.entries == expected)
    }

    @Test(
        "a higher level goes before ready operations that were added earlier", .contract("G4"),
        arguments: [false, true],
        [(.normal, .high), (.low, .normal), (.veryLow, .low)]
            as [(ready: Operation.QueuePriority, added: Operation.QueuePriority)])
    func passesReadyOnes(inBulk: Bool, levels: (ready: Operation.QueuePriority, added: Operation.QueuePriority)) {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let urgent = MainOperation { _ in log.append(-1) }
        urgent.queuePriority = levels.added
        for number in 0..<10 {
            let operation = MainOperation { _ in
                log.append(number)
                if number != 4 { return }
                if inBulk {
                    let last = MainOperation()
                    last.queuePriority = .veryLow
                    queue.addOperations([last, urgent], waitUntilFinished: false)
                } else {
                    queue.addOperation(urgent)
                }
            }
            operation.queuePriority = levels.ready
            queue.addOperation(operation)
        }
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [0, 1, 2, 3, 4, -1, 5, 6, 7, 8, 9])
    }

    @Test("priority acts within one queue only", .contract("G7"))
    func withinOneQueue() {
        let held = makeQueue(suspended: true)
        let urgent = MainOperation()
        urgent.queuePriority = .veryHigh
        held.addOperation(urgent)
        let queue = makeQueue(limit: 1)
        let unhurried = MainOperation()
        unhurried.queuePriority = .veryLow
        queue.addOperation(unhurried)
        drains(queue)
        #expect(unhurried.isFinished && !urgent.isFinished)
        held.isSuspended = false
        drains(held)
    }

    @Test("priority does not preempt, but overtakes what waits", .contract("G8", "G12"))
    func noPreemption() {
        let log = Recorder<String>()
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.operation.queuePriority = .veryLow
        blocker.occupy(queue)
        queue.addOperation { log.append("waiting") }
        let urgent = MainOperation { _ in log.append("urgent") }
        urgent.queuePriority = .veryHigh
        queue.addOperation(urgent)
        #expect(blocker.operation.isExecuting && log.entries.isEmpty)
        blocker.release.open()
        drains(queue)
        #expect(log.entries == ["urgent", "waiting"])
    }

    @Test("a changed priority re-files a waiting operation at the back of its new level", .contract("G10"))
    func changedWhileWaiting() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let operations = numbered(6, into: log)
        operations[5].queuePriority = .high
        queue.addOperations(operations, waitUntilFinished: false)
        operations[3].queuePriority = .high
        operations[1].queuePriority = .high
        operations[4].queuePriority = .low
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [5, 3, 1, 0, 2, 4])
    }

    @Test("raised and lowered again, it is at the back of its level", .contract("G10"))
    func raisedAndLowered() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let operations = numbered(4, into: log)
        queue.addOperations(operations, waitUntilFinished: false)
        operations[1].queuePriority = .high
        operations[1].queuePriority = .normal
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [0, 2, 3, 1])
    }

    @Test("set to the level it has, it keeps its place", .contract("G10"))
    func sameLevel() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let operations = numbered(4, into: log)
        queue.addOperations(operations, waitUntilFinished: false)
        operations[1].queuePriority = .normal
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [0, 1, 2, 3])
    }

    @Test("a priority changed after the start is only a value", .contract("G11"))
    func changedAfterStart() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        queue.addOperations(numbered(3, into: log), waitUntilFinished: false)
        blocker.operation.queuePriority = .veryLow
        #expect(blocker.operation.queuePriority == .veryLow && blocker.operation.isExecuting)
        blocker.release.open()
        drains(queue)
        blocker.operation.queuePriority = .high
        #expect(blocker.operation.queuePriority == .high)
        #expect(log.entries == [0, 1, 2])
    }
}

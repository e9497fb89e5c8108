import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("I: the completion block", .blocking)
struct CompletionBlockTests {
    @Test("runs once, after the operation became finished", .contract("I1", "I2", "I5"))
    func runsOnce() {
        let seen = Recorder<Bool>()
        let ran = Gate("the completion block runs")
        let operation = MainOperation()
        operation.completionBlock = { [weak operation] in
            seen.append(operation?.isFinished == true && operation?.isExecuting == false)
            ran.open()
        }
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        ran.wait()
        operation.start()
        #expect(seen.entries == [true])
    }

    @Test("runs after a start by hand too", .contract("I1"))
    func afterManualStart() {
        let ran = Counter()
        let operation = MainOperation()
        operation.completionBlock = { ran.add() }
        operation.start()
        ran.wait(for: 1)
        #expect(ran.value == 1)
    }

    @Test("runs for a cancelled operation, once it was started", .contract("I3"))
    func runsWhenCancelled() {
        let ran = Counter()
        let byHand = MainOperation()
        byHand.completionBlock = { ran.add() }
        byHand.cancel()
        byHand.start()
        let queued = MainOperation()
        queued.completionBlock = { ran.add() }
        let queue = makeQueue(suspended: true)
        queue.addOperation(queued)
        queued.cancel()
        queue.isSuspended = false
        drains(queue)
        ran.wait(for: 2)
    }

    @Test("does not run for an operation that was cancelled and never started", .contract("I3"))
    func notWithoutStart() {
        let ran = Counter()
        let operation = MainOperation()
        operation.completionBlock = { ran.add() }
        operation.cancel()
        #expect(ran.value == 0 && !operation.isFinished)
        operation.start()
        ran.wait(for: 1)
    }

    @Test("not on the main thread when a queue ran the operation", .contract("I4"))
    func notOnMainThread() {
        let onMain = Recorder<Bool>()
        let ran = Counter()
        let queue = makeQueue()
        for _ in 0..<20 {
            let operation = MainOperation()
            operation.completionBlock = {
                onMain.append(ThreadFacts.isMain)
                ran.add()
            }
            queue.addOperation(operation)
        }
        ran.wait(for: 20)
        #expect(!onMain.entries.contains(true))
    }

    @Test("waiters, dependents and the slot do not wait for the completion block", .contract("I7"))
    func nobodyWaitsForIt() {
        let blocked = Gate("the completion block may return")
        let ended = Gate("the completion block ends")
        let queue = makeQueue(limit: 1)
        let operation = MainOperation()
        operation.completionBlock = {
            blocked.wait()
            ended.open()
        }
        let next = MainOperation()
        next.addDependency(operation)
        queue.addOperations([operation, next], waitUntilFinished: false)
        finishes(operation)
        finishes(next)
        drains(queue)
        #expect(!ended.isOpen)
        blocked.open()
        ended.wait()
    }

    @Test("a completion block may wait for the next operation of a limit-1 queue", .contract("I7"))
    func waitsForNext() {
        let queue = makeQueue(limit: 1, suspended: true)
        let operation = MainOperation()
        let next = MainOperation()
        let ended = Gate("the completion block ends")
        operation.completionBlock = {
            next.waitUntilFinished()
            ended.open()
        }
        queue.addOperations([operation, next], waitUntilFinished: false)
        queue.isSuspended = false
        ended.wait()
        #expect(next.isFinished)
    }

    @Test("a completion block may add operations; batches refill a queue", .contract("I8"))
    func refill() {
        let queue = makeQueue(limit: 2)
        let runs = Counter()
        let total = 10
        @Sendable func addBatch(_ index: Int) {
            guard index < total else { return }
            let operations = (0..<5).map { _ in MainOperation { _ in runs.add() } }
            let last = MainOperation()
            for operation in operations { last.addDependency(operation) }
            last.completionBlock = { addBatch(index + 1) }
            queue.addOperations(operations + [last], waitUntilFinished: false)
        }
        addBatch(0)
        runs.wait(for: total * 5)
        drains(queue)
        #expect(runs.value == total * 5)
    }

    @Test("replacing before the start replaces, nil removes", .contract("I10"))
    func replace() {
        let log = Recorder<String>()
        let replaced = MainOperation()
        let ran = Gate("the replacement runs")
        replaced.completionBlock = { log.append("first") }
        replaced.completionBlock = {
            log.append("second")
            ran.open()
        }
        replaced.name = "replaced"
        let removed = MainOperation()
        removed.completionBlock = { log.append("removed") }
        removed.name = "removed"
        removed.completionBlock = nil
        #expect(removed.completionBlock == nil && replaced.completionBlock != nil)
        removed.start()
        replaced.start()
        ran.wait()
        #expect(log.entries == ["second"])
    }
}

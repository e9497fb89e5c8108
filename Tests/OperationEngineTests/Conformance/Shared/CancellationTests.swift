import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("J: cancellation", .blocking)
struct CancellationTests {
    @Test("cancel sets a flag and does not interrupt; the operation ends cancelled and finished", .contract("J1", "J3"))
    func onlyAFlag() {
        let queue = makeQueue()
        let completed = Counter()
        let blockers = (0..<10).map { _ in Blocker() }
        for blocker in blockers {
            blocker.occupy(queue)
            blocker.operation.cancel()
            let flags = StateFlags(blocker.operation)
            #expect(flags.cancelled && flags.executing && !flags.finished)
            blocker.release.open()
            finishes(blocker.operation)
            if blocker.operation.isFinished && blocker.operation.isCancelled { completed.add() }
        }
        #expect(completed.value == 10)
    }

    @Test("no effect after the finish", .contract("J2"))
    func afterFinish() {
        let byHand = MainOperation()
        byHand.start()
        byHand.cancel()
        #expect(!byHand.isCancelled)
        let queued = MainOperation()
        let queue = makeQueue()
        queue.addOperation(queued)
        drains(queue)
        queued.cancel()
        #expect(!queued.isCancelled && queued.isFinished)
    }

    @Test("waiting in a queue, it becomes ready at once, is finished without main and leaves", .contract("J4", "J5"))
    func whileWaiting() {
        let runs = Counter()
        let queue = makeQueue()
        let never = MainOperation()
        let operation = MainOperation { _ in runs.add() }
        operation.addDependency(never)
        queue.addOperation(operation)
        #expect(!operation.isReady)
        operation.cancel()
        #expect(operation.isReady && operation.isCancelled)
        drains(queue)
        #expect(operation.isFinished && runs.value == 0)
        #expect(queue.operationCount == 0 && queue.operations.isEmpty)
        #expect(!never.isFinished && !never.isCancelled)
    }

    @Test("in no queue, it is not finished until it is started", .contract("J6"))
    func outOfQueue() {
        let operation = MainOperation()
        operation.cancel()
        #expect(operation.isCancelled && operation.isReady && !operation.isFinished)
        operation.start()
        #expect(operation.isFinished)
    }

    @Test("in a suspended queue, cancelled and ready, finished only after the resume", .contract("J7"))
    func whileSuspended() {
        let queue = makeQueue(suspended: true)
        let operation = MainOperation()
        operation.addDependency(MainOperation())
        queue.addOperation(operation)
        operation.cancel()
        let other = makeQueue()
        for _ in 0..<100 { other.addOperation {} }
        drains(other)
        #expect(operation.isCancelled && operation.isReady && !operation.isFinished)
        #expect(queue.operationCount == 1)
        queue.isSuspended = false
        drains(queue)
        #expect(operation.isFinished)
    }

    @Test("dependents of a cancelled operation run", .contract("J8"))
    func dependentsRun() {
        let log = Recorder<Int>()
        let queue = makeQueue()
        let operations = numbered(3, into: log)
        operations[1].addDependency(operations[0])
        operations[2].addDependency(operations[1])
        queue.addOperations([operations[1], operations[2]], waitUntilFinished: false)
        operations[1].cancel()
        drains(queue)
        #expect(log.entries == [2])
        #expect(!operations[2].isCancelled)
    }

    @Test(
        "cancelAllOperations cancels what is queued and executing, removes nothing, returns at once", .contract("J10"))
    func cancelAll() {
        let runs = Counter()
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        queue.isSuspended = true
        let waiting = (0..<20).map { _ in MainOperation { _ in runs.add() } }
        queue.addOperations(waiting, waitUntilFinished: false)
        queue.cancelAllOperations()
        #expect(blocker.operation.isCancelled && blocker.operation.isExecuting)
        #expect(waiting.allSatisfy { $0.isCancelled && !$0.isFinished })
        #expect(queue.operations.count == 21)
        blocker.release.open()
        queue.isSuspended = false
        drains(queue)
        #expect(runs.value == 0)
        #expect(waiting.allSatisfy { $0.isFinished })
    }

    @Test("operations added after cancelAllOperations run", .contract("J11"))
    func addedAfterCancelAll() {
        let runs = Counter()
        let queue = makeQueue(suspended: true)
        for _ in 0..<10 { queue.addOperation { runs.add(100) } }
        queue.cancelAllOperations()
        let later = MainOperation { _ in runs.add() }
        queue.addOperation(later)
        queue.addOperation { runs.add() }
        queue.isSuspended = false
        drains(queue)
        #expect(runs.value == 2 && !later.isCancelled)
    }

    @Test("an operation may cancel itself", .contract("J12"))
    func selfCancel() {
        let seen = Recorder<Bool>()
        let operation = MainOperation {
            $0.cancel()
            seen.append($0.isCancelled && $0.isExecuting)
        }
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(seen.entries == [true])
        #expect(operation.isFinished && operation.isCancelled)
    }

    @Test(
        "cancel racing with a queue's start: main is left out, or sees the flag", .contract("J13"), arguments: [1, -1])
    func cancelAgainstQueue(limit: Int) {
        let queue = makeQueue(limit: limit)
        let wrong = Counter()
        let completions = Counter()
        let rounds = Scale.of(4_000)
        let operations = (0..<rounds).map { _ in RacingOperation() }
        for operation in operations { operation.completionBlock = { completions.add() } }
        onThreads(2) { thread in
            for operation in operations {
                if thread == 0 {
                    queue.addOperation(operation)
                } else {
                    operation.cancel()
                }
            }
        }
        drains(queue)
        completions.wait(for: rounds)
        for operation in operations where !operation.isOutcomeRight { wrong.add() }
        #expect(wrong.value == 0)
        #expect(completions.value == rounds)
    }

    @Test("cancel racing with a start by hand", .contract("J13"))
    func cancelAgainstStart() {
        let operations = (0..<Scale.of(10_000)).map { _ in RacingOperation() }
        onThreads(2) { thread in
            for operation in operations {
                if thread == 0 { operation.start() } else { operation.cancel() }
            }
        }
        #expect(operations.allSatisfy { $0.isOutcomeRight })
    }

    @Test("cancel may be called again and from many threads", .contract("J14"))
    func idempotent() {
        let queue = makeQueue(suspended: true)
        let completions = Counter()
        let operations = (0..<200).map { _ in MainOperation() }
        for operation in operations { operation.completionBlock = { completions.add() } }
        queue.addOperations(operations, waitUntilFinished: false)
        onThreads(4) { _ in
            for operation in operations {
                operation.cancel()
                operation.cancel()
            }
        }
        #expect(operations.allSatisfy { $0.isCancelled && !$0.isFinished })
        queue.isSuspended = false
        drains(queue)
        completions.wait(for: 200)
        #expect(completions.value == 200)
        #expect(operations.allSatisfy { $0.isFinished })
    }

    @Test("a main that polls isCancelled ends early", .contract("J15"))
    func polling() {
        let begun = Gate("the loop begins")
        let operation = MainOperation { operation in
            while !operation.isCancelled { begun.open() }
        }
        let queue = makeQueue()
        queue.addOperation(operation)
        begun.wait()
        operation.cancel()
        drains(queue)
        #expect(operation.isFinished && operation.isCancelled)
    }

    @Test(
        "cancelling all reaches those that wait for others, of the same queue and of another one",
        .contract("J10", "J4"))
    func cancelsWaitingOnes() {
        let (runs, ends) = (Counter(), Counter())
        let queue = makeQueue(suspended: true)
        let foreign = MainOperation()
        let operations = (0..<20).map { number in
            let operation = MainOperation { _ in runs.add() }
            operation.completionBlock = { ends.add() }
            operation.queuePriority = number % 3 == 0 ? .high : .normal
            return operation
        }
        for (before, after) in zip(operations, operations.dropFirst()) { after.addDependency(before) }
        operations[7].addDependency(foreign)
        queue.addOperations(operations, waitUntilFinished: false)
        queue.cancelAllOperations()
        #expect(operations.allSatisfy { $0.isCancelled && $0.isReady && !$0.isFinished })
        #expect(queue.operationCount == 20)
        queue.isSuspended = false
        drains(queue)
        ends.wait(for: 20)
        #expect(runs.value == 0 && operations.allSatisfy(\.isFinished) && !foreign.isFinished)
    }

    @Test("a subclass may override cancel and call super", .contract("J16"))
    func overriddenCancel() {
        final class Closing: Operation, @unchecked Sendable {
            let closes = Counter()
            let runs = Counter()
            override func main() { runs.add() }
            let wasCancelled = Recorder<Bool>()
            override func cancel() {
                closes.add()
                wasCancelled.append(isCancelled)
                super.cancel()
            }
        }
        let queue = makeQueue()
        let waiting = Closing()
        waiting.addDependency(MainOperation())
        queue.addOperation(waiting)
        waiting.cancel()
        drains(queue)
        #expect(waiting.closes.value == 1 && waiting.runs.value == 0)
        #expect(waiting.isFinished && waiting.isCancelled)
        let suspended = makeQueue(suspended: true)
        let queued = Closing()
        suspended.addOperation(queued)
        suspended.cancelAllOperations()
        #expect(queued.closes.value == 1 && queued.isCancelled)
        suspended.cancelAllOperations()
        #expect(queued.closes.value == 2 && queued.wasCancelled.entries == [false, true])
        suspended.isSuspended = false
        drains(suspended)
        #expect(queued.runs.value == 0)
    }
}

/// An operation that a test cancels at about the time of its start.
final class RacingOperation: Operation, @unchecked Sendable {
    private let runs = Counter()
    private let sawFlag = Counter()

    override func main() {
        runs.add()
        // The cancel is on its way, and must reach an executing operation.
        if eventually("a cancelled main sees the flag", { isCancelled }) { sawFlag.add() }
    }

    /// Exactly one of: main not run, main run with the flag visible.
    var isOutcomeRight: Bool {
        isFinished && isCancelled && !isExecuting && runs.value <= 1 && sawFlag.value == runs.value
    }
}

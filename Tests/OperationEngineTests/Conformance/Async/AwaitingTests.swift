import OperationEngine
import TestSupport
import Testing

@Suite("O8: awaiting", .blocking)
struct AwaitingTests {
    @Test("finished() returns at the finish, and at once after it", .contract("O8"))
    func finish() {
        let queue = makeQueue()
        let blocker = Blocker()
        blocker.occupy(queue)
        let operation = blocker.operation
        let returned = Gate("the await returns")
        let awaiting = Task.detached {
            let isFinished = await operation.finished() && operation.isFinished
            returned.open()
            return isFinished
        }
        #expect(!returned.isOpen)
        blocker.release.open()
        #expect(awaited { await awaiting.value })
        #expect(awaited { await operation.finished() })
    }

    @Test("finished() of operations that end in other ways: cancelled, by hand, by their own account", .contract("O8"))
    func otherEnds() {
        let cancelled = MainOperation()
        cancelled.cancel()
        let own = OwnAccountOperation()
        let byHand = MainOperation()
        let operations = [cancelled, own, byHand]
        let awaiting = operations.map { operation in Task.detached { await operation.finished() } }
        makeQueue().addOperation(cancelled)
        makeQueue().addOperation(own)
        byHand.start()
        own.begun.wait()
        own.end()
        for task in awaiting { #expect(awaited { await task.value }) }
    }

    @Test("finished() is false for a cancelled task, and the operation goes on", .contract("O8"))
    func cancelledTask() {
        let queue = makeQueue()
        let blocker = Blocker()
        blocker.occupy(queue)
        let operation = blocker.operation
        let tasks = (0..<10).map { _ in Task.detached { await operation.finished() } }
        for task in tasks.dropFirst(5) { task.cancel() }
        for task in tasks.dropFirst(5) { #expect(!awaited { await task.value }) }
        #expect(!operation.isCancelled && !operation.isFinished)
        blocker.release.open()
        for task in tasks.prefix(5) { #expect(awaited { await task.value }) }
    }

    @Test("what has happened is true for a cancelled task too", .contract("O8"))
    func alreadyThere() {
        let operation = MainOperation()
        operation.start()
        let queue = makeQueue()
        let task = Task.detached {
            withUnsafeCurrentTask { $0?.cancel() }
            return await (operation.finished(), queue.drained())
        }
        #expect(awaited { await task.value } == (true, true))
    }

    @Test("a task cancelled before it awaits does not wait", .contract("O8"))
    func cancelledBefore() {
        let operation = MainOperation()
        let queue = makeQueue(suspended: true)
        queue.addOperation(operation)
        let task = Task.detached {
            withUnsafeCurrentTask { $0?.cancel() }
            return await (operation.finished(), queue.drained())
        }
        #expect(awaited { await task.value } == (false, false))
        queue.isSuspended = false
        drains(queue)
    }

    @Test("10,000 pending awaits block no thread", .contract("O8"))
    func noThreads() {
        let count = 10_000
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let operation = blocker.operation
        let threadsBefore = ThreadFacts.count
        let arrived = Counter()
        let tasks = (0..<count).map { index in
            Task.detached {
                arrived.add()
                return await index % 2 == 0 ? operation.finished() : queue.drained()
            }
        }
        // All of them run, on a handful of threads, although none of the awaits is over.
        arrived.wait(for: count)
        #expect(ThreadFacts.count < threadsBefore + 100)
        #expect(!operation.isFinished)
        blocker.release.open()
        var woken = 0
        for task in tasks where awaited({ await task.value }) { woken += 1 }
        #expect(woken == count)
    }

    @Test("drained() includes operations added meanwhile", .contract("O8", "O3"))
    func drained() {
        let queue = makeQueue()
        let runs = Counter()
        for _ in 0..<20 {
            queue.addOperation {
                queue.addOperation {
                    queue.addOperation { runs.add() }
                    runs.add()
                }
                runs.add()
            }
        }
        #expect(awaited { await queue.drained() })
        #expect(runs.value == 60 && queue.operationCount == 0)
    }

    @Test("drained() is false for a cancelled task, and others go on waiting", .contract("O8"))
    func drainedCancelled() {
        let queue = makeQueue()
        let blocker = Blocker()
        blocker.occupy(queue)
        let tasks = (0..<10).map { _ in Task.detached { await queue.drained() } }
        for task in tasks.dropFirst(5) { task.cancel() }
        for task in tasks.dropFirst(5) { #expect(!awaited { await task.value }) }
        blocker.release.open()
        for task in tasks.prefix(5) { #expect(awaited { await task.value }) }
    }

    @Test("an operation may await others while its queue has one slot for each of them", .contract("O8"))
    func inOperations() throws {
        let queue = makeQueue(limit: 2)
        let first = queue.addOperation { () async in 20 }
        let second = queue.addOperation { try await first.value + 1 }
        let third = queue.addOperation { try await first.value + second.value + 1 }
        #expect(try awaited { try await third.value } == 42)
    }

    @Test("a continuing task is on its actor again", .contract("O8"))
    func isolation() {
        let queue = makeQueue(suspended: true)
        let operation = MainOperation()
        queue.addOperation(operation)
        awaited { @MainActor () async in
            queue.isSuspended = false
            await operation.finished()
            MainActor.assertIsolated()
            await queue.drained()
            MainActor.assertIsolated()
        }
    }
}

/// An asynchronous operation with a state of its own.
private final class OwnAccountOperation: Operation, @unchecked Sendable {
    let begun = Gate("it is started")
    private let state = Guarded((executing: false, finished: false))

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.read().executing }
    override var isFinished: Bool { state.read().finished }

    override func start() {
        state.withLock { $0.executing = true }
        begun.open()
    }

    func end() {
        willChangeValue(forKey: "isFinished")
        state.withLock { $0 = (false, true) }
        didChangeValue(forKey: "isFinished")
    }
}

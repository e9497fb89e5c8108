import OperationEngine
import TestSupport
import Testing

/// Tasks that await while what they await happens, or while they are cancelled.
@Suite("O8, X1: awaits that race", .blocking, .serialized)
struct AwaitingRaceTests {
    @Test("awaits that meet the finish all return, and say that it is finished", .contract("O8"))
    func finishes() {
        let rounds = Scale.of(4000)
        let wrong = Counter()
        let queue = makeQueue()
        for _ in 0..<rounds {
            let operation = MainOperation()
            let tasks = (0..<3).map { _ in
                Task.detached {
                    if await !operation.finished() || !operation.isFinished { wrong.add() }
                }
            }
            queue.addOperation(operation)
            awaited { for task in tasks { await task.value } }
        }
        #expect(wrong.value == 0)
    }

    @Test("awaits that meet the finish and their own cancellation return once, with what is true", .contract("O8"))
    func cancellations() {
        var generator = SeededGenerator(seed: announcedSeed("awaits cancelled"))
        let wrong = Counter()
        let queue = makeQueue(limit: 2)
        for _ in 0..<Scale.of(3000) {
            let operation = MainOperation()
            let tasks = (0..<4).map { index in
                Task.detached {
                    let isFinished = index < 2 ? await operation.finished() : await queue.drained()
                    if isFinished, index < 2, !operation.isFinished { wrong.add() }
                    if !isFinished, !Task.isCancelled { wrong.add() }
                }
            }
            let cancelled = tasks.filter { _ in Bool.random(using: &generator) }
            if Bool.random(using: &generator) {
                queue.addOperation(operation)
                for task in cancelled { task.cancel() }
            } else {
                for task in cancelled { task.cancel() }
                queue.addOperation(operation)
            }
            awaited { for task in tasks { await task.value } }
        }
        #expect(wrong.value == 0)
        drains(queue)
    }

    @Test("drained() while producers keep the queue at the edge of empty", .contract("O8"))
    func drained() {
        let rounds = Scale.of(20_000)
        let queue = makeQueue()
        let awaits = Counter()
        let isOver = Guarded(false)
        let watchers = (0..<3).map { _ in
            Task.detached {
                while !isOver.read() {
                    if await queue.drained() { awaits.add() }
                    await Task.yield()
                }
            }
        }
        onThreads(2) { _ in
            for _ in 0..<rounds { queue.addOperation {} }
        }
        drains(queue)
        // On an empty queue at the latest.
        awaits.wait(for: 1)
        isOver.withLock { $0 = true }
        awaited { for watcher in watchers { await watcher.value } }
        #expect(awaits.value > 0 && queue.operationCount == 0)
    }

    @Test("cancelled from operation and task at once, while starting and ending", .contract("X1", "J13"))
    func cancelFromBothSides() {
        let queue = makeQueue(limit: 4)
        let operations = (0..<Scale.of(4000)).map { index in
            AsyncOperation { () async throws -> Int in
                if index % 3 == 0 { withUnsafeCurrentTask { $0?.cancel() } }
                await Task.yield()
                try Task.checkCancellation()
                return index
            }
        }
        queue.isSuspended = true
        queue.addOperations(operations, waitUntilFinished: false)
        onThreads(2) { thread in
            if thread == 0 { queue.isSuspended = false }
            for operation in operations where thread == 0 || operation.isExecuting { operation.cancel() }
        }
        drains(queue)
        for (index, operation) in operations.enumerated() {
            #expect(operation.isFinished && operation.failure == nil)
            switch operation.result {
            case .success(let value): #expect(value == index)
            case .failure(let error): #expect(error is CancellationError && operation.isCancelled)
            case nil: Issue.record("no result")
            }
        }
    }
}

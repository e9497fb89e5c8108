import OperationEngine
import TestSupport
import Testing

@Suite("X1: cancellation of async operations", .blocking)
struct AsyncCancellationTests {
    @Test("cancelled before its start it finishes without a slot, and makes no task", .contract("X1", "J9"))
    func beforeStart() throws {
        let queue = makeQueue(limit: 1)
        let blocker = AsyncBlocker()
        blocker.occupy(queue)
        let runs = Counter()
        let operation = queue.addOperation { () async in runs.add() }
        operation.cancel()
        // The only slot is taken for as long as this waits.
        #expect(awaited { await operation.finished() })
        #expect(throws: CancellationError.self) { try awaited { try await operation.value } }
        #expect(operation.ending?.kind == "cancelled" && operation.failure == nil && runs.value == 0)
        blocker.release.open()
        drains(queue)
    }

    @Test("cancelling the operation cancels the task", .contract("X1"))
    func operationToTask() throws {
        let queue = makeQueue()
        let (begun, unopened) = (Gate("the body begins"), AsyncGate())
        let operation = queue.addOperation { () async throws -> Bool in
            begun.open()
            await unopened.wait()
            try Task.checkCancellation()
            return true
        }
        begun.wait()
        operation.cancel()
        #expect(throws: CancellationError.self) { try awaited { try await operation.value } }
        #expect(operation.ending?.kind == "cancelled" && operation.failure == nil)
        #expect(StateFlags(operation) == StateFlags(ready: true, finished: true, cancelled: true))
    }

    @Test("cancelAllOperations cancels the tasks too", .contract("X1", "J10"))
    func cancelAll() {
        let queue = makeQueue(limit: 3)
        let blockers = (0..<6).map { _ in AsyncBlocker() }
        for blocker in blockers { queue.addOperation(blocker.operation) }
        for blocker in blockers.prefix(3) { blocker.begun.wait() }
        queue.cancelAllOperations()
        drains(queue)
        #expect(blockers.allSatisfy { $0.operation.isCancelled && $0.operation.isFinished })
        // A later one may have begun all the same: cancelling goes from one to the next, and frees slots on its way.
    }

    @Test("cancelling the task cancels the operation, at once, and observers hear of it", .contract("X1"))
    func taskToOperation() {
        let seen = Recorder<Bool>()
        let told = Counter()
        let box = Guarded<AsyncOperation<Void>?>(nil)
        let operation = AsyncOperation {
            withUnsafeCurrentTask { $0?.cancel() }
            seen.append(box.read()?.isCancelled == true)
        }
        box.withLock { $0 = operation }
        let token = operation.observe(\.isCancelled) { _, _ in told.add() }
        makeQueue().addOperation(operation)
        awaited { await operation.finished() }
        #expect(seen.entries == [true] && told.value == 1 && operation.isCancelled)
        withExtendedLifetime(token) {}
        box.withLock { $0 = nil }
    }

    @Test("a CancellationError out of the blue is a failure", .contract("X1"))
    func outOfTheBlue() {
        let operation = makeQueue().addOperation { () async throws -> Int in throw CancellationError() }
        #expect(throws: CancellationError.self) { try awaited { try await operation.value } }
        #expect(operation.ending?.kind == "failed" && operation.failure is CancellationError)
        #expect(!operation.isCancelled)
    }

    @Test(
        "a body that pays no attention returns its value, and the operation is cancelled all the same",
        .contract("X1", "J3"))
    func unimpressed() throws {
        let blocker = AsyncBlocker(value: 9)
        blocker.occupy(makeQueue())
        blocker.operation.cancel()
        #expect(try awaited { try await blocker.operation.value } == 9)
        #expect(blocker.operation.ending?.kind == "cancelled" && blocker.operation.isCancelled)
    }

    @Test("another error of a cancelled body is a failure", .contract("X1"))
    func otherError() {
        let (begun, unopened) = (Gate("the body begins"), AsyncGate())
        let operation = makeQueue().addOperation { () async throws -> Int in
            begun.open()
            await unopened.wait()
            throw Fault(number: 1)
        }
        begun.wait()
        operation.cancel()
        #expect(throws: Fault(number: 1)) { try awaited { try await operation.value } }
        #expect(operation.ending?.kind == "failed" && operation.isCancelled)
    }

    @Test("a task that awaits the value and is cancelled gives up; the operation goes on", .contract("X1"))
    func awaitingTask() throws {
        let blocker = AsyncBlocker(value: 4)
        blocker.occupy(makeQueue())
        let operation = blocker.operation
        let awaiting = Task.detached { try await operation.value }
        awaiting.cancel()
        #expect(throws: CancellationError.self) { try awaited { try await awaiting.value } }
        #expect(!operation.isCancelled && operation.isExecuting)
        blocker.release.open()
        #expect(try awaited { try await operation.value } == 4)
    }

    @Test("awaiting task and operation tied together by a cancellation handler", .contract("X1"))
    func tied() {
        let blocker = AsyncBlocker()
        blocker.occupy(makeQueue())
        let operation = blocker.operation
        let awaiting = Task.detached {
            try await withTaskCancellationHandler {
                try await operation.value
            } onCancel: {
                operation.cancel()
            }
        }
        awaiting.cancel()
        awaited { _ = await awaiting.result }
        awaited { await operation.finished() }
        #expect(operation.isCancelled)
    }

    @Test("cancelled while it is being started: the body is left out, or its task is cancelled", .contract("X1", "J13"))
    func race() {
        let rounds = Scale.of(4000)
        let queue = makeQueue(limit: 4)
        let unseen = Counter()
        for _ in 0..<rounds {
            let unopened = AsyncGate()
            let operation = queue.addOperation {
                // Ends only by the cancellation of the task.
                await unopened.wait()
                if !Task.isCancelled { unseen.add() }
            }
            operation.cancel()
        }
        drains(queue)
        #expect(unseen.value == 0)
    }
}

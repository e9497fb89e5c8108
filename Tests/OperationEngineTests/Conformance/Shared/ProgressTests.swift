import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
    import OperationEngineProgress
#endif

/// Overrides `start`, and leaves the rest to it.
private final class StartingOperation: Operation, @unchecked Sendable {
    override func start() { super.start() }
}

@Suite("P: progress", .blocking)
struct ProgressTests {
    @Test("silent until a total is set, then one more for each operation", .contract("P12"))
    func total() {
        let queue = makeQueue()
        let progress = queue.progress
        #expect(progress.totalUnitCount == 0 && progress === queue.progress)
        queue.addOperations((0..<3).map { _ in MainOperation() }, waitUntilFinished: true)
        #expect(progress.completedUnitCount == 0)
        progress.totalUnitCount = 10
        for count in 1...10 {
            let operation = MainOperation()
            queue.addOperation(operation)
            finishes(operation)
            #expect(progress.completedUnitCount == Int64(count))
        }
        #expect(progress.fractionCompleted == 1 && progress.isFinished)
    }

    @Test("an operation is counted after its main, and before it is finished", .contract("P12"))
    func endOfMain() {
        let queue = makeQueue()
        queue.progress.totalUnitCount = 3
        let inside = Recorder<Int64>()
        let operation = MainOperation { [unowned queue] _ in inside.append(queue.progress.completedUnitCount) }
        queue.addOperation(operation)
        finishes(operation)
        inside.append(queue.progress.completedUnitCount)
        #expect(inside.entries == [0, 1])
    }

    @Test("an overridden start counts only if it calls the inherited one", .contract("P12"))
    func ownStart() {
        let queue = makeQueue()
        queue.progress.totalUnitCount = 3
        queue.addOperations([StartingOperation()], waitUntilFinished: true)
        #expect(queue.progress.completedUnitCount == 1)
        queue.addOperations([AsynchronousOperation { $0.end() }], waitUntilFinished: true)
        drains(queue)
        #expect(queue.progress.completedUnitCount == 1)
    }

    @Test(
        "barriers and operations cancelled before their start are not counted; one cancelled in main is",
        .contract("P12"))
    func uncounted() {
        let queue = makeQueue(limit: 1)
        queue.progress.totalUnitCount = 10
        let cancelled = MainOperation()
        cancelled.cancel()
        queue.addOperation(cancelled)
        queue.addOperation(MainOperation { $0.cancel() })
        queue.addBarrierBlock {}
        drains(queue)
        #expect(queue.progress.completedUnitCount == 1)
    }

    @Test("cancelling the progress cancels no operation", .contract("P12"))
    func cancelled() {
        let queue = makeQueue()
        queue.progress.totalUnitCount = 1
        queue.progress.cancel()
        let runs = Counter()
        queue.addOperation { runs.add() }
        drains(queue)
        #expect(runs.value == 1 && queue.progress.completedUnitCount == 1)
    }
}

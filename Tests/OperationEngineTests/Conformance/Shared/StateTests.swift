import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("A: the state machine", .blocking)
struct StateTests {
    @Test("a lifetime goes ready, executing, finished", .contract("A1", "A4"))
    func lifetime() {
        let seen = Recorder<StateFlags>()
        let operation = MainOperation { seen.append(StateFlags($0)) }
        let before = StateFlags(operation)
        operation.start()
        let inside = seen.entries.first
        let after = StateFlags(operation)
        #expect(before.ready && !before.executing && !before.finished && !before.cancelled)
        #expect(inside?.executing == true && inside?.finished == false)
        #expect(!after.executing && after.finished && !after.cancelled)
    }

    @Test("a fresh operation", .contract("A2"))
    func fresh() {
        let operation = Operation()
        #expect(operation.isReady)
        #expect(!operation.isExecuting)
        #expect(!operation.isFinished)
        #expect(!operation.isCancelled)
        #expect(operation.dependencies.isEmpty)
        #expect(operation.queuePriority == .normal)
        #expect(operation.completionBlock == nil)
        #expect(operation.name == nil)
    }

    @Test("a poller never sees a finished operation executing, nor an unready one after its finish", .contract("A3"))
    func exclusive() {
        let violations = Counter()
        let queue = makeQueue()
        let operations = (0..<Scale.of(2_000)).map { _ in MainOperation() }
        let polled = Gate("polling ends")
        queue.addOperation {
            for operation in operations {
                while true {
                    // Finished never goes back, so executing read after it must be false.
                    let finished = operation.isFinished
                    if finished && (operation.isExecuting || !operation.isReady) { violations.add() }
                    if finished { break }
                }
            }
            polled.open()
        }
        let runner = makeQueue(limit: 2)
        for operation in operations { runner.addOperation(operation) }
        drains(runner)
        polled.wait()
        #expect(violations.value == 0)
    }

    @Test("cancelled and started ends finished, without main", .contract("A4", "B7"))
    func finishedByCancellation() {
        let runs = Counter()
        let operation = MainOperation { _ in runs.add() }
        operation.cancel()
        operation.start()
        #expect(operation.isFinished && operation.isCancelled && !operation.isExecuting)
        #expect(runs.value == 0)
    }

    @Test("an operation is single-shot; starting a finished one returns without running main", .contract("A5", "B4"))
    func singleShot() {
        let runs = Counter()
        let operation = MainOperation { _ in runs.add() }
        operation.start()
        operation.start()
        #expect(runs.value == 1)
        #expect(operation.isFinished)
    }

    @Test("getters may be called from any thread while states change", .contract("A6"))
    func gettersFromAnyThread() {
        let operations = (0..<Scale.of(1_000)).map { _ in MainOperation() }
        let backwards = Counter()
        onThreads(3) { thread in
            for operation in operations {
                if thread == 0 {
                    operation.start()
                } else if thread == 1 {
                    operation.name = "a name"
                    if operation.isFinished && !operation.isFinished { backwards.add() }
                    _ = (operation.isReady, operation.isCancelled, operation.isExecuting, operation.isAsynchronous)
                } else {
                    _ = (operation.name, operation.dependencies, operation.queuePriority, operation.isCancelled)
                }
            }
        }
        #expect(backwards.value == 0)
        #expect(operations.allSatisfy { $0.isFinished })
    }

    @Test("the base class does nothing in main; starting it finishes it", .contract("A8", "B13"))
    func baseClass() {
        let operation = Operation()
        operation.start()
        #expect(operation.isFinished && !operation.isExecuting)
    }

    @Test("work handed to somebody else inside the operation is not covered", .contract("A9"))
    func nestedWork() {
        let elsewhere = makeQueue()
        let nested = Blocker()
        let operation = MainOperation { _ in elsewhere.addOperation(nested.operation) }
        operation.start()
        #expect(operation.isFinished)
        #expect(!nested.operation.isFinished)
        nested.release.open()
        drains(elsewhere)
    }

    @Test("the name can be set and taken away", .contract("A10"))
    func name() {
        let operation = Operation()
        operation.name = "reader"
        #expect(operation.name == "reader")
        operation.name = nil
        #expect(operation.name == nil)
    }
}

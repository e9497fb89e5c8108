import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("B: start and main by hand", .blocking)
struct ManualStartTests {
    @Test("start runs main on the caller's thread and returns after the finish", .contract("B1"))
    func startIsSynchronous() {
        let threads = Recorder<Int32>()
        let operation = MainOperation { _ in threads.append(ThreadFacts.id) }
        operation.start()
        #expect(threads.entries == [ThreadFacts.id])
        #expect(operation.isFinished)
    }

    @Test("operations are not asynchronous by default", .contract("B2", "K12"))
    func notAsynchronous() {
        #expect(!Operation().isAsynchronous)
        #expect(!BlockOperation().isAsynchronous)
        #expect(!MainOperation().isAsynchronous)
    }

    @Test(
        "start looks at finished before cancelled: a finished operation cannot become cancelled by start",
        .contract("B3"))
    func orderOfChecks() {
        let operation = MainOperation()
        operation.start()
        operation.cancel()
        operation.start()
        #expect(operation.isFinished && !operation.isCancelled)
    }

    @Test("executing is set before main and cleared after it", .contract("B3"))
    func executingAroundMain() {
        let inside = Recorder<Bool>()
        let operation = MainOperation { inside.append($0.isExecuting && !$0.isFinished) }
        operation.start()
        #expect(inside.entries == [true])
        #expect(!operation.isExecuting)
    }

    @Test("a cancelled operation can be started although a dependency is unfinished", .contract("B8"))
    func cancelledIsStartable() {
        let runs = Counter()
        let dependency = MainOperation()
        let operation = MainOperation { _ in runs.add() }
        operation.addDependency(dependency)
        #expect(!operation.isReady)
        operation.cancel()
        #expect(operation.isReady)
        operation.start()
        #expect(operation.isFinished)
        #expect(runs.value == 0)
        #expect(!dependency.isFinished)
    }

    @Test("calling main runs the code and changes no state", .contract("B11"))
    func mainDirectly() {
        let runs = Counter()
        let operation = MainOperation { _ in runs.add() }
        operation.main()
        #expect(runs.value == 1)
        #expect(StateFlags(operation) == StateFlags(Operation()))
        operation.start()
        #expect(runs.value == 2)
    }

    @Test("calling main does not unlock dependents", .contract("B11"))
    func mainUnlocksNobody() {
        let operation = MainOperation()
        let dependent = MainOperation()
        dependent.addDependency(operation)
        operation.main()
        #expect(!dependent.isReady)
        operation.start()
        #expect(dependent.isReady)
    }

    @Test("an operation may start another inside its main", .contract("B15"))
    func nestedStart() {
        let log = Recorder<String>()
        let threads = Recorder<Int32>()
        let inner = MainOperation { _ in
            log.append("inner")
            threads.append(ThreadFacts.id)
        }
        let outer = MainOperation { outer in
            threads.append(ThreadFacts.id)
            inner.start()
            log.append(inner.isFinished && outer.isExecuting ? "outer" : "wrong state")
        }
        let queue = makeQueue()
        queue.addOperation(outer)
        drains(queue)
        #expect(log.entries == ["inner", "outer"])
        #expect(Set(threads.entries).count == 1)
    }

    @Test("an operation finished by hand unlocks its dependents in any queue", .contract("B17"))
    func manualFinishUnlocks() {
        let log = Recorder<Int>()
        let operations = numbered(3, into: log)
        operations[1].addDependency(operations[0])
        operations[2].addDependency(operations[0])
        let queues = [makeQueue(), makeQueue()]
        queues[0].addOperation(operations[1])
        queues[1].addOperation(operations[2])
        #expect(!operations[1].isReady && !operations[2].isReady)
        operations[0].start()
        for queue in queues { drains(queue) }
        #expect(log.entries.first == 0)
        #expect(log.entries.sorted() == [0, 1, 2])
    }

    @Test("a trap in main ends the process", .contract("B14"))
    func trapEscapes() async {
        await #expect(processExitsWith: .failure) {
            let queue = OperationQueue()
            queue.addOperation(MainOperation { _ in fatalError("main fails") })
            drains(queue)
        }
    }
}

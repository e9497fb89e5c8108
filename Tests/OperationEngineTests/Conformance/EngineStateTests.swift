import OperationEngine
import TestSupport
import Testing

@Suite("A and B: state and manual start, the engine's own lines", .blocking)
struct EngineStateTests {
    @Test("the thread priority is 0.5, and effective so", .contract("A2", "H1"))
    func freshThreadPriority() {
        let operation = Operation()
        #expect(operation.threadPriority == 0.5)
        #expect(operation.effectiveThreadPriority == 0.5)
    }

    @Test("the name is shown in the description", .contract("A10"))
    func description() {
        let operation = MainOperation()
        operation.name = "reader of pages"
        #expect(operation.description.contains("reader of pages"))
        #expect(operation.description.contains("MainOperation"))
    }

    @Test("isConcurrent is the older name of isAsynchronous", .contract("B2"))
    func isConcurrent() {
        final class Asynchronous: Operation, @unchecked Sendable {
            override var isAsynchronous: Bool { true }
        }
        #expect(!Operation().isConcurrent)
        #expect(Asynchronous().isConcurrent)
    }

    @Test(
        "finished is looked at first: a dependency added after the finish is no obstacle to start",
        .contract("B3", "B4", "E19"))
    func finishedBeforeReady() {
        let runs = Counter()
        let operation = MainOperation { _ in runs.add() }
        operation.start()
        operation.addDependency(MainOperation())
        operation.start()
        #expect(runs.value == 1 && operation.isReady)
    }

    @Test("a ready operation is performed by the helper", .contract("B12"))
    func performReady() {
        let threads = Recorder<Int32>()
        let operation = MainOperation { _ in threads.append(ThreadFacts.id) }
        #expect(operation.performIfReady())
        #expect(operation.isFinished && threads.entries == [ThreadFacts.id])
    }

    @Test("the helper leaves an unready operation as it is", .contract("B12"))
    func performUnready() {
        let (dependency, operation) = (MainOperation(), MainOperation())
        operation.addDependency(dependency)
        let before = StateFlags(operation)
        #expect(!operation.performIfReady())
        #expect(StateFlags(operation) == before)
        dependency.start()
        #expect(operation.performIfReady())
    }

    @Test("an asynchronous operation is performed on a thread of its own", .contract("B12"))
    func performAsynchronous() {
        final class Asynchronous: Operation, @unchecked Sendable {
            let threads = Recorder<Int32>()
            override var isAsynchronous: Bool { true }
            override func main() { threads.append(ThreadFacts.id) }
        }
        let operation = Asynchronous()
        #expect(operation.performIfReady())
        finishes(operation)
        #expect(operation.threads.entries.count == 1 && operation.threads.entries.first != ThreadFacts.id)
    }

    @Test("the helper finishes a cancelled operation without main", .contract("B12"))
    func performCancelled() {
        let runs = Counter()
        let operation = MainOperation { _ in runs.add() }
        operation.addDependency(MainOperation())
        operation.cancel()
        #expect(operation.performIfReady())
        #expect(operation.isFinished && runs.value == 0)
    }

}

@Suite("G and N: choosing, the engine's own lines", .blocking)
struct EngineChoiceTests {
    @Test(
        "raw priorities are pulled towards normal to the nearest level", .contract("G2"),
        arguments: [
            (Int.min, -8), (-10, -8), (-8, -8), (-7, -4), (-4, -4), (-3, 0), (0, 0), (3, 0), (4, 4), (7, 4), (8, 8),
            (10, 8), (Int.max, 8),
        ])
    func rawPriorities(raw: Int, level: Int) {
        let operation = Operation()
        operation.setQueuePriority(rawValue: raw)
        #expect(operation.queuePriority.rawValue == level)
        #expect(Operation.QueuePriority(clamping: raw).rawValue == level)
    }

    @Test("operations that became ready late follow in the order in which they became ready", .contract("G6"))
    func lateReady() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let dependencies = (0..<3).map { _ in MainOperation() }
        let operations = numbered(6, into: log)
        for index in 0..<3 { operations[index].addDependency(dependencies[index]) }
        queue.addOperations(operations, waitUntilFinished: false)
        for index in [2, 0, 1] { dependencies[index].start() }
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [3, 4, 5, 2, 0, 1])
    }

    @Test("the quality of service does not change the order", .contract("N14"))
    func qualityOfService() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let operations = numbered(3, into: log)
        operations[0].qualityOfService = .background
        operations[2].qualityOfService = .userInteractive
        queue.addOperations(operations, waitUntilFinished: false)
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [0, 1, 2])
    }

    @Test("once the setter has returned, at most one start per running slot", .contract("N12"), arguments: [1, 4])
    func suspendRace(limit: Int) {
        for _ in 0..<Scale.of(200) {
            let queue = makeQueue(limit: limit)
            let starts = Counter()
            let hasStarted = Gate("the first operation starts")
            for _ in 0..<500 {
                queue.addOperation {
                    starts.add()
                    hasStarted.open()
                }
            }
            hasStarted.wait()
            queue.isSuspended = true
            let atSuspend = starts.value
            // What was committed has had its chance once a queue of its own has been through the same workers.
            let other = makeQueue(limit: limit)
            for _ in 0..<20 { other.addOperation {} }
            drains(other)
            #expect(starts.value <= atSuspend + limit)
            queue.isSuspended = false
            drains(queue)
            #expect(starts.value == 500)
        }
    }

    @Test("a cancelled waiting operation is finished without a slot, on a worker", .contract("J9"))
    func cancelledNeedsNoSlot() {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let threads = Recorder<Int32>()
        let completions = Counter()
        let operations = (0..<10).map { _ in MainOperation() }
        operations[3].addDependency(MainOperation())
        for operation in operations {
            operation.completionBlock = {
                threads.append(ThreadFacts.id)
                completions.add()
            }
        }
        queue.addOperations(operations, waitUntilFinished: false)
        for operation in operations { operation.cancel() }
        for operation in operations { finishes(operation) }
        completions.wait(for: 10)
        #expect(blocker.operation.isExecuting)
        #expect(!threads.entries.contains(ThreadFacts.id))
        blocker.release.open()
        drains(queue)
    }

    @Test("with start overridden it takes a slot", .contract("J9"))
    func overriddenStartTakesSlot() {
        final class Starting: Operation, @unchecked Sendable {
            let starts = Counter()
            override func start() {
                starts.add()
                super.start()
            }
        }
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let operation = Starting()
        queue.addOperation(operation)
        operation.cancel()
        let other = makeQueue()
        for _ in 0..<100 { other.addOperation {} }
        drains(other)
        #expect(operation.starts.value == 0 && !operation.isFinished)
        blocker.release.open()
        drains(queue)
        #expect(operation.starts.value == 1 && operation.isFinished)
    }
}

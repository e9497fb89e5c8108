import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("M: adding and running", .blocking)
struct QueueTests {
    @Test("operations, batches and closures are added and run", .contract("M1"))
    func ways() {
        let runs = Counter()
        let queue = makeQueue()
        queue.addOperation(MainOperation { _ in runs.add() })
        queue.addOperations(
            [MainOperation { _ in runs.add() }, BlockOperation { runs.add() }], waitUntilFinished: false)
        queue.addOperation { runs.add() }
        drains(queue)
        #expect(runs.value == 4)
    }

    @Test("operations run on other threads than the adder's and the main one", .contract("M2", "M3"))
    func secondaryThreads() {
        let threads = Recorder<Int32>()
        let onMain = Recorder<Bool>()
        let queue = makeQueue()
        for _ in 0..<50 {
            queue.addOperation {
                threads.append(ThreadFacts.id)
                onMain.append(ThreadFacts.isMain)
            }
        }
        drains(queue)
        #expect(threads.entries.count == 50 && !threads.entries.contains(ThreadFacts.id))
        #expect(!onMain.entries.contains(true))
    }

    @Test("waiting for a batch waits for that batch, not for the queue", .contract("M4"))
    func waitForBatch() {
        let queue = makeQueue(limit: 4)
        let blocker = Blocker()
        blocker.occupy(queue)
        let runs = Counter()
        let batch = (0..<20).map { _ in MainOperation { _ in runs.add() } }
        completes("addOperations with a wait") {
            queue.addOperations(batch, waitUntilFinished: true)
        }
        #expect(runs.value == 20 && batch.allSatisfy { $0.isFinished })
        #expect(blocker.operation.isExecuting)
        blocker.release.open()
        drains(queue)
    }

    @Test("an empty batch is nothing", .contract("M7"))
    func emptyBatch() {
        let queue = makeQueue()
        completes("adding nothing") {
            queue.addOperations([], waitUntilFinished: false)
            queue.addOperations([], waitUntilFinished: true)
        }
        #expect(queue.operationCount == 0)
    }

    @Test("adding from many threads, from operations and from completion blocks", .contract("M8"))
    func manyAdders() {
        let queue = makeQueue()
        let runs = Counter()
        let perThread = Scale.of(400)
        onThreads(4) { _ in
            for _ in 0..<perThread {
                let operation = MainOperation { _ in queue.addOperation { runs.add() } }
                operation.completionBlock = { queue.addOperation { runs.add() } }
                queue.addOperation(operation)
            }
        }
        runs.wait(for: 4 * perThread * 2)
        drains(queue)
        #expect(runs.value == 4 * perThread * 2)
    }

    @Test("operations lists the unfinished in order of adding, executing ones included", .contract("M9", "M10", "M11"))
    func listing() {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let waiting = (0..<10).map { _ in MainOperation() }
        waiting[4].queuePriority = .veryHigh
        queue.addOperations(waiting, waitUntilFinished: false)
        #expect(areSame(queue.operations, [blocker.operation] + waiting))
        #expect(queue.operationCount == 11)
        blocker.release.open()
        drains(queue)
        #expect(queue.operations.isEmpty && queue.operationCount == 0)
    }

    @Test("the count is exact for who runs, with one operation at a time", .contract("M11"))
    func countWhileRunning() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        for _ in 0..<100 { queue.addOperation(MainOperation { _ in log.append(queue.operationCount) }) }
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == (1...100).reversed())
    }

    @Test("closures are listed as operations too", .contract("M9"))
    func closuresListed() {
        let queue = makeQueue(suspended: true)
        let runs = Counter()
        queue.addOperation { runs.add() }
        queue.addOperation { runs.add() }
        let listed = queue.operations
        #expect(listed.count == 2 && queue.operationCount == 2)
        listed.first?.cancel()
        queue.isSuspended = false
        drains(queue)
        #expect(runs.value == 1)
    }

    @Test("the name is not empty, unique, and can be set", .contract("M12"))
    func name() {
        let (left, right) = (makeQueue(), makeQueue())
        #expect(left.name?.isEmpty == false)
        #expect(left.name != right.name)
        left.name = "import"
        #expect(left.name == "import")
    }
}

import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("K: block operations", .blocking)
struct BlockOperationTests {
    @Test("no block, or one", .contract("K1"))
    func creation() {
        let runs = Counter()
        let empty = BlockOperation()
        #expect(empty.executionBlocks.isEmpty)
        let single = BlockOperation { runs.add() }
        #expect(single.executionBlocks.count == 1)
        single.start()
        #expect(runs.value == 1 && single.isFinished)
    }

    @Test("start returns when all blocks have returned", .contract("K3", "K4"))
    func startRunsAll() {
        let runs = Counter()
        let operation = BlockOperation { runs.add() }
        for _ in 0..<9 { operation.addExecutionBlock { runs.add() } }
        operation.start()
        #expect(runs.value == 10)
        #expect(operation.isFinished && !operation.isExecuting)
    }

    @Test("in a queue, finished when all blocks have returned", .contract("K3"))
    func finishedAfterAll() {
        let runs = Counter()
        let queue = makeQueue()
        for _ in 0..<Scale.of(200) {
            let operation = BlockOperation()
            let own = Counter()
            for _ in 0..<4 {
                operation.addExecutionBlock {
                    own.add()
                    runs.add()
                }
            }
            queue.addOperation(operation)
            finishes(operation)
            #expect(own.value == 4)
        }
        #expect(runs.value == Scale.of(200) * 4)
    }

    @Test("executionBlocks lists the blocks in the order added", .contract("K8"))
    func listed() {
        let log = Recorder<Int>()
        let operation = BlockOperation()
        for index in 0..<8 { operation.addExecutionBlock { log.append(index) } }
        for block in operation.executionBlocks { block() }
        #expect(log.entries == Array(0..<8))
    }

    @Test("without blocks it finishes", .contract("K10"))
    func noBlocks() {
        let byHand = BlockOperation()
        byHand.start()
        let queued = BlockOperation()
        let queue = makeQueue()
        queue.addOperation(queued)
        drains(queue)
        #expect(byHand.isFinished && queued.isFinished)
    }

    @Test("cancelled before the start, no block runs", .contract("K11"))
    func cancelledBefore() {
        let runs = Counter()
        let operation = BlockOperation { runs.add() }
        operation.addExecutionBlock { runs.add() }
        operation.cancel()
        operation.start()
        #expect(runs.value == 0 && operation.isFinished)
    }

    @Test("cancelled while running, all blocks run", .contract("K11"))
    func cancelledDuring() {
        let runs = Counter()
        let operation = BlockOperation()
        for _ in 0..<6 {
            operation.addExecutionBlock { [unowned operation] in
                operation.cancel()
                runs.add()
            }
        }
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(runs.value == 6 && operation.isCancelled && operation.isFinished)
    }

    @Test("dependencies and priority apply to block operations", .contract("K14"))
    func dependenciesAndPriority() {
        let log = Recorder<String>()
        let queue = makeQueue(limit: 1, suspended: true)
        let first = BlockOperation { log.append("first") }
        let second = BlockOperation { log.append("second") }
        let urgent = BlockOperation { log.append("urgent") }
        second.addDependency(first)
        second.queuePriority = .veryHigh
        urgent.queuePriority = .high
        queue.addOperations([second, first, urgent], waitUntilFinished: false)
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == ["urgent", "first", "second"])
    }
}

import OperationEngine
import TestSupport
import Testing

@Suite("I, K, Q: blocks and what they hold, the engine's own lines", .blocking)
struct EngineBlockTests {
    @Test("the completion block is cleared after it has begun", .contract("I6"))
    func completionCleared() {
        let operation = MainOperation()
        let ran = Gate("the completion block runs")
        operation.completionBlock = { ran.open() }
        let queue = makeQueue()
        queue.addOperation(operation)
        ran.wait()
        eventually("the completion block is cleared") { operation.completionBlock == nil }
    }

    @Test("a completion block that holds its operation does not leak it", .contract("I6"))
    func completionCycle() {
        let freed = Counter()
        let queue = makeQueue()
        for _ in 0..<20 {
            let operation = CountedOperation(freed: freed)
            operation.completionBlock = { _ = operation.isFinished }
            queue.addOperation(operation)
        }
        freed.wait(for: 20)
    }

    @Test("a completion block may wait for the last of a thousand in its limit-1 queue", .contract("I7"))
    func completionWaitsForLast() {
        let queue = makeQueue(limit: 1, suspended: true)
        let operations = (0..<1_000).map { _ in MainOperation() }
        let ended = Gate("the completion block ends")
        let last = operations[999]
        operations[0].completionBlock = {
            last.waitUntilFinished()
            ended.open()
        }
        queue.addOperations(operations, waitUntilFinished: false)
        queue.isSuspended = false
        ended.wait()
        drains(queue)
    }

    @Test(
        "a completion block may wait for its queue, whatever the same thread ran before", .contract("I7"),
        arguments: [false, true])
    func completionWaitsForQueue(afterClosures: Bool) {
        let queue = makeQueue(limit: 1, suspended: true)
        let ended = Gate("the completion block ends")
        for _ in 0..<3 {
            if afterClosures { queue.addOperation {} } else { queue.addOperation(MainOperation()) }
        }
        let last = MainOperation()
        last.completionBlock = {
            queue.waitUntilAllOperationsAreFinished()
            ended.open()
        }
        queue.addOperation(last)
        queue.isSuspended = false
        ended.wait()
    }

    @Test("completion blocks that block do not hold up the queue, however many", .contract("I7"))
    func blockedCompletions() {
        let queue = makeQueue(limit: 2)
        let release = Gate("the completion blocks may return")
        let ended = Counter()
        let operations = (0..<40).map { _ in MainOperation() }
        for operation in operations {
            operation.completionBlock = {
                release.wait()
                ended.add()
            }
        }
        queue.addOperations(operations, waitUntilFinished: false)
        drains(queue)
        #expect(operations.allSatisfy { $0.isFinished } && ended.value == 0)
        release.open()
        ended.wait(for: 40)
    }

    @Test("a completion block set while executing is honoured, one set after the finish never runs", .contract("I9"))
    func lateCompletionBlock() {
        let log = Recorder<String>()
        let ran = Gate("the completion block runs")
        let operation = MainOperation {
            $0.completionBlock = {
                log.append("set while executing")
                ran.open()
            }
        }
        operation.start()
        ran.wait()
        operation.completionBlock = { log.append("set after the finish") }
        let other = MainOperation()
        let isOtherDone = Gate("another completion block runs")
        other.completionBlock = { isOtherDone.open() }
        other.start()
        isOtherDone.wait()
        #expect(log.entries == ["set while executing"])
    }

    @Test("the blocks of one operation run at the same time", .contract("K2"))
    func concurrentBlocks() {
        let meeting = Rendezvous(6)
        let operation = BlockOperation()
        let met = Counter()
        for _ in 0..<6 {
            operation.addExecutionBlock { if meeting.meet() { met.add() } }
        }
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(met.value == 6)
    }

    @Test(
        "started by hand, one block runs on the caller's thread, the others elsewhere, and start waits for all",
        .contract("K4", "B1"))
    func startedByHand() {
        let meeting = Rendezvous(4)
        let threads = Recorder<Int32>()
        let operation = BlockOperation()
        for _ in 0..<4 {
            operation.addExecutionBlock {
                meeting.meet()
                threads.append(ThreadFacts.id)
            }
        }
        operation.start()
        #expect(operation.isFinished && threads.entries.count == 4)
        #expect(threads.entries.count { $0 == ThreadFacts.id } == 1)
        #expect(Set(threads.entries).count == 4)
    }

    @Test("the blocks are not limited by the queue's limit", .contract("K5", "N8"))
    func blocksBeyondLimit() {
        let meeting = Rendezvous(5)
        let operation = BlockOperation()
        for _ in 0..<5 { operation.addExecutionBlock { meeting.meet() } }
        let queue = makeQueue(limit: 1)
        queue.addOperation(operation)
        drains(queue)
        #expect(meeting.arrivals == 5)
    }

    @Test("an operation takes one slot, however many blocks it has", .contract("K6"))
    func oneSlot() {
        let queue = makeQueue(limit: 2)
        let meeting = Rendezvous(8)
        let operations = (0..<2).map { _ in BlockOperation() }
        for operation in operations {
            for _ in 0..<4 { operation.addExecutionBlock { meeting.meet() } }
        }
        queue.addOperations(operations, waitUntilFinished: false)
        drains(queue)
        #expect(meeting.arrivals == 8)
        let level = HighWater()
        let entered = Guarded(Set<Int>())
        for index in 0..<Scale.of(200) {
            let operation = BlockOperation()
            for _ in 0..<3 {
                operation.addExecutionBlock { _ = level.inside { entered.withLock { $0.insert(index) } } }
            }
            queue.addOperation(operation)
        }
        drains(queue)
        #expect(entered.read().count == Scale.of(200))
        #expect(level.peak <= 6)
    }

    @Test("blocks and what they capture are released after running", .contract("K13", "Q5"))
    func blocksReleased() {
        let released = Counter()
        let operation = BlockOperation()
        for _ in 0..<3 {
            let token = Token(released: released)
            operation.addExecutionBlock { token.hold() }
        }
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        released.wait(for: 3)
        #expect(operation.isFinished)
    }

    @Test("the only block is released after running, though the operation is kept", .contract("K13"))
    func onlyBlockReleased() {
        let released = Counter()
        let operation = {
            let token = Token(released: released)
            return BlockOperation { token.hold() }
        }()
        operation.start()
        #expect(released.value == 1)
        #expect(operation.isFinished)
    }

    @Test(
        "main called by hand runs the blocks until the operation is finished, and nothing after that",
        .contract("B11", "K13"))
    func mainOnceFinished() {
        let runs = Counter()
        let plain = BlockOperation { runs.add() }
        plain.main()
        #expect(runs.value == 1 && !plain.isFinished)
        plain.start()
        #expect(runs.value == 2 && plain.isFinished)
        plain.main()
        #expect(runs.value == 2)
    }

    @Test(
        "main called after a wait for the finish runs nothing, whichever thread releases the blocks",
        .contract("B11", "K13"))
    func mainAfterWaiting() {
        let runs = Counter()
        let queue = makeQueue()
        for round in 1...Scale.of(1_000) {
            let operation = BlockOperation { runs.add() }
            operation.addExecutionBlock { runs.add() }
            queue.addOperations([operation], waitUntilFinished: true)
            operation.main()
            #expect(runs.value == 2 * round)
        }
    }

    @Test(
        "a block that announces its operation's end keeps what it has captured until it returns",
        .contract("C11", "K13"))
    func announcingBlock() {
        final class Announcing: BlockOperation, @unchecked Sendable {
            private let isOver = Guarded(false)
            override var isFinished: Bool { isOver.read() }
            func end() {
                willChangeValue(for: \.isFinished)
                isOver.withLock { $0 = true }
                didChangeValue(for: \.isFinished)
            }
        }
        let (released, seen) = (Counter(), Recorder<Int>())
        let announced = Guarded<Announcing?>(nil)
        do {
            let token = Token(released: released)
            let operation = Announcing {
                announced.withLock { $0.take() }?.end()
                seen.append(released.value)
                token.hold()
            }
            announced.withLock { $0 = operation }
            makeQueue().addOperation(operation)
        }
        released.wait(for: 1)
        #expect(seen.entries == [0])
    }

    @Test("blocks of a cancelled operation are released too", .contract("K13", "K11"))
    func blocksOfCancelledReleased() {
        let released = Counter()
        let operation = BlockOperation()
        do {
            let token = Token(released: released)
            operation.addExecutionBlock { token.hold() }
        }
        operation.cancel()
        operation.start()
        released.wait(for: 1)
        #expect(operation.isFinished)
    }

    @Test("the closure of addOperation and the completion block are released after running", .contract("Q5"))
    func closuresReleased() {
        let released = Counter()
        let queue = makeQueue()
        let kept = MainOperation()
        do {
            let inClosure = Token(released: released)
            queue.addOperation { inClosure.hold() }
            let inCompletion = Token(released: released)
            kept.completionBlock = { inCompletion.hold() }
            queue.addOperation(kept)
        }
        drains(queue)
        released.wait(for: 2)
    }

    @Test("a completion block that never runs is released with its operation or by the next", .contract("I10", "Q5"))
    func completionBlocksDropped() {
        let released = Counter()
        for isNamed in [false, true] {
            let operation = BlockOperation {}
            for _ in 0..<2 {
                let token = Token(released: released)
                operation.completionBlock = { token.hold() }
            }
            if isNamed { operation.name = "named" }
        }
        #expect(released.value == 4)
    }

    @Test("blocks may be listed while the operation begins, runs and ends; then there are none", .contract("K8", "K13"))
    func listedWhileItRuns() {
        let operations = (0..<Scale.of(3_000)).map { _ in BlockOperation {} }
        let listed = Counter()
        onThreads(2) { thread in
            for operation in operations {
                if thread == 0 { operation.start() } else { listed.add(operation.executionBlocks.count) }
            }
        }
        #expect(listed.value <= operations.count)
        #expect(operations.allSatisfy { $0.executionBlocks.isEmpty })
    }
}

import Dispatch
import OperationEngine
import TestSupport
import Testing

/// Runs a block when it is freed.
private final class LastWords: Operation, @unchecked Sendable {
    private let words: @Sendable () -> Void
    private let work: @Sendable () -> Void

    init(_ words: @escaping @Sendable () -> Void, work: @escaping @Sendable () -> Void = {}) {
        (self.words, self.work) = (words, work)
    }

    override func main() { work() }

    deinit { words() }
}

/// An operation whose block is all that holds an object.
private func holding(_ object: LastWords) -> BlockOperation { BlockOperation { withExtendedLifetime(object) {} } }

/// Waits for an operation on the calling thread, which the engine can then see.
private func waitHere(for operation: Operation) {
    #expect(operation.waitUntilFinished(timeout: HangLimit.wait))
}

@Suite("Q: queues used from a deinit", .blocking)
struct DeinitTests {
    @Test("an operation's deinit on a worker adds operations", .contract("Q1"), arguments: [1, -1])
    func adds(limit: Int) {
        let runs = Counter()
        let queue = makeQueue(limit: limit)
        for _ in 0..<100 {
            queue.addOperation(LastWords { queue.addOperation { runs.add() } })
        }
        runs.wait(for: 100)
        drains(queue)
    }

    @Test(
        "an operation's deinit waits for the one that its worker would have started next", .contract("Q1", "G5"),
        arguments: [1, 2, -1])
    func waitsForNext(limit: Int) {
        let order = Recorder<Int>()
        let queue = makeQueue(limit: limit, suspended: true)
        let next = (0..<20).map { number in MainOperation { _ in order.append(number) } }
        for operation in next {
            queue.addOperation(LastWords { waitHere(for: operation) })
            queue.addOperation(operation)
        }
        queue.isSuspended = false
        drains(queue)
        #expect(limit != 1 || order.entries == Array(0..<20))
        #expect(order.entries.sorted() == Array(0..<20))
    }

    @Test(
        "what a cancelled operation held waits for others that were cancelled with it, and for what depends on them",
        .contract("J9", "J8"),
        arguments: [1, -1])
    func cancelledTogether(limit: Int) {
        let queue = makeQueue(limit: limit, suspended: true)
        let other = makeQueue()
        // More than end in one step; the last one of a step, and the first of the next.
        let last = (0..<100).map { _ in BlockOperation {} }
        let dependents = last.map { operation in
            let dependent = BlockOperation {}
            dependent.addDependency(operation)
            return dependent
        }
        other.addOperations(dependents, waitUntilFinished: false)
        let seen = Counter()
        for number in 0..<last.count {
            // Freed with the block, as its operation ends.
            queue.addOperation(
                holding(
                    LastWords {
                        waitHere(for: last[number])
                        waitHere(for: dependents[number])
                        seen.add()
                    }))
            queue.addOperation(BlockOperation {})
        }
        queue.addOperations(last, waitUntilFinished: false)
        queue.cancelAllOperations()
        queue.isSuspended = false
        drains(queue)
        drains(other)
        #expect(seen.value == last.count)
        #expect(queue.operationCount == 0)
    }

    @Test("what a cancelled operation held is gone before its dependents start", .contract("J9", "K13"))
    func heldIsGone() {
        let queue = makeQueue(limit: 1, suspended: true)
        let order = Recorder<String>()
        let dependent = MainOperation { _ in order.append("dependent") }
        // It ends in the same step, before the other one.
        queue.addOperation(holding(LastWords { waitHere(for: dependent) }))
        let operation = holding(LastWords { order.append("held") })
        dependent.addDependency(operation)
        queue.addOperation(operation)
        makeQueue().addOperation(dependent)
        queue.cancelAllOperations()
        queue.isSuspended = false
        drains(queue)
        #expect(order.entries == ["held", "dependent"])
    }

    @Test(
        "the deinit of a cancelled operation waits for one behind a barrier", .contract("J9", "P7"), arguments: [1, -1])
    func waitsBehindBarrier(limit: Int) {
        let queue = makeQueue(limit: limit, suspended: true)
        let behind = BlockOperation {}
        do {
            let operation = LastWords { waitHere(for: behind) }
            queue.addOperation(operation)
            operation.cancel()
        }
        queue.addBarrierBlock {}
        queue.addOperation(behind)
        queue.isSuspended = false
        drains(queue)
    }

    @Test(
        "a barrier waits for the deinit of what a cancelled operation before it held", .contract("P7", "J9"),
        arguments: [1, -1])
    func barrierWaits(limit: Int) {
        let queue = makeQueue(limit: limit, suspended: true)
        let (inside, beside) = (Counter(), Counter())
        queue.addOperation(
            holding(
                LastWords {
                    inside.add()
                    queue.addBarrierBlock { beside.add(inside.value) }
                    // Time enough for a barrier that does not wait.
                    for _ in 0..<20 {
                        let other = BlockOperation {}
                        makeQueue().addOperation(other)
                        waitHere(for: other)
                    }
                    inside.add(-1)
                }))
        queue.cancelAllOperations()
        queue.isSuspended = false
        drains(queue)
        #expect(beside.value == 0 && inside.value == 0)
    }

    @Test(
        "an operation that has run is released before others that were cancelled meanwhile", .contract("Q1", "J9"),
        arguments: [1, -1])
    func releasedFirst(limit: Int) {
        let (queue, other) = (makeQueue(limit: limit), makeQueue())
        let (begun, goOn) = (Gate("it runs"), Gate("the other one is cancelled"))
        let awaited = BlockOperation {}
        queue.addOperation(
            LastWords({ other.addOperation(awaited) }) {
                begun.open()
                goOn.wait()
            })
        begun.wait()
        let dependency = BlockOperation {}
        // It may end at once, on another worker.
        let operation = holding(LastWords { waitHere(for: awaited) })
        operation.addDependency(dependency)
        queue.addOperation(operation)
        operation.cancel()
        goOn.open()
        drains(queue)
        #expect(awaited.isFinished)
    }

    @Test("what was put back while a deinit waits can be cancelled, and has its priority changed", .contract("Q1"))
    func putBackChanges() {
        let order = Recorder<String>()
        let queue = makeQueue(limit: 1, suspended: true)
        let (first, second, third) = (
            MainOperation { _ in order.append("first") }, MainOperation { _ in order.append("second") },
            MainOperation { _ in order.append("third") }
        )
        queue.addOperation(
            LastWords {
                // The worker has chosen `first`, and gives it back for this wait.
                waitHere(for: second)
            })
        for operation in [first, second, third] { queue.addOperation(operation) }
        queue.isSuspended = false
        drains(queue)
        #expect(order.entries == ["first", "second", "third"])
    }

    @Test(
        "a thread that ran closures and waited in a deinit has left the queue for good", .contract("Q1", "M9", "M11"),
        arguments: [false, true])
    func leavesForGood(onDispatch: Bool) async {
        await #expect(processExitsWith: .success) { [onDispatch] in
            let queue = makeQueue(limit: 1, suspended: true)
            if onDispatch { queue.underlyingQueue = DispatchQueue(label: "test", attributes: .concurrent) }
            for _ in 0..<5 { queue.addOperation {} }
            let next = BlockOperation {}
            queue.addOperation(LastWords { waitHere(for: next) })
            queue.addOperation(next)
            queue.isSuspended = false
            precondition(queue.waitUntilFinished(timeout: HangLimit.wait), "the queue never drains")

            let other = makeQueue(limit: 4)
            let (begun, goOn) = (Counter(), Gate("the closures go on"))
            for _ in 0..<4 {
                other.addOperation {
                    begun.add()
                    goOn.wait()
                }
            }
            begun.wait(for: 4)
            queue.isSuspended = true
            queue.addOperation {}
            precondition(queue.operations.count == 1, "the queue lists what runs in another one")
            precondition(queue.operationCount == 1 && other.operationCount == 4)
            goOn.open()
            queue.isSuspended = false
            precondition(other.waitUntilFinished(timeout: HangLimit.wait), "the other queue never drains")
            precondition(queue.waitUntilFinished(timeout: HangLimit.wait), "the queue never drains again")
            precondition(queue.operationCount == 0 && other.operationCount == 0)
        }
    }

    @Test(
        "an operation's deinit waits for another queue, which waits for the end of its own", .contract("Q1"),
        arguments: [1, -1])
    func waitsForOtherQueue(limit: Int) {
        let runs = Counter()
        let queue = makeQueue(limit: limit, suspended: true)
        let other = makeQueue(limit: limit)
        let operations = (0..<50).map { _ in MainOperation { _ in runs.add() } }
        queue.addOperation(
            LastWords {
                other.addOperation { waitHere(for: operations[49]) }
                #expect(other.waitUntilFinished(timeout: HangLimit.wait))
            })
        queue.addOperations(operations, waitUntilFinished: false)
        queue.isSuspended = false
        drains(queue)
        #expect(runs.value == 50)
    }

    @Test("a deinit on the user's own thread adds operations and waits for them", .contract("Q1"))
    func onOwnThread() {
        let runs = Counter()
        let queue = makeQueue(limit: 1)
        var operation: LastWords? = LastWords {
            for _ in 0..<10 { queue.addOperation { runs.add() } }
            #expect(queue.waitUntilFinished(timeout: HangLimit.wait))
        }
        operation?.start()
        operation = nil
        #expect(runs.value == 10)
    }

    @Test("a queue dropped in the deinit of an object that one of its operations captured goes too", .contract("Q3"))
    func droppedInside() {
        final class Owner: Sendable {
            let queue = makeQueue()
            let runs: Counter
            init(_ runs: Counter) { self.runs = runs }
            deinit {
                let runs = runs
                queue.addOperation { runs.add() }
            }
        }
        let runs = Counter()
        for _ in 0..<50 {
            let owner = Owner(runs)
            owner.queue.addOperation { _ = owner.runs }
        }
        runs.wait(for: 50)
    }
}

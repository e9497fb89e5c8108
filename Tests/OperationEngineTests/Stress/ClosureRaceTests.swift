import OperationEngine
import Synchronization
import TestSupport
import Testing

/// Closures that were added without an operation of the user's, and the objects that are made of them while they run.
@Suite("Stress: closures that are looked at", .blocking, .serialized)
struct ClosureRaceTests {
    @Test(
        "the object of a running closure executes, holds its block, and can be waited for and depended on",
        .contract("M9", "K8", "O1"))
    func objectOfRunningClosure() throws {
        let queue = makeQueue(limit: 1)
        let (begun, release) = (Gate("the closure begins"), Gate("the closure is released"))
        let log = Guarded<[String]>([])
        queue.addOperation {
            begun.open()
            release.wait()
            log.withLock { $0.append("closure") }
        }
        begun.wait()
        let object = try #require(queue.operations.first as? BlockOperation)
        #expect(object.isExecuting && !object.isFinished && object.executionBlocks.count == 1)
        #expect(queue.operations == [object] && queue.operationCount == 1)
        let dependent = BlockOperation { log.withLock { $0.append("dependent") } }
        dependent.addDependency(object)
        object.completionBlock = { log.withLock { $0.append("completed") } }
        makeQueue().addOperation(dependent)
        queue.addOperation { log.withLock { $0.append("behind") } }
        release.open()
        object.waitUntilFinished()
        #expect(object.isFinished && object.executionBlocks.isEmpty)
        dependent.waitUntilFinished()
        drains(queue)
        #expect(eventually("the completion block runs") { log.read().count == 4 })
        #expect(log.read().first == "closure")
    }

    @Test(
        "closures that end while they are listed keep what they capture, and then release it",
        .contract("M9", "K13", "Q5"))
    func listedWhileTheyEnd() {
        final class Captured: Sendable {
            let alive: Counter
            let value = Atomic(42)
            init(_ alive: Counter) {
                self.alive = alive
                alive.add()
            }
            deinit {
                value.store(0, ordering: .relaxed)
                alive.add(-1)
            }
        }
        let (alive, wrong) = (Counter(), Counter())
        let ended = Atomic(false)
        let queue = makeQueue()
        let rounds = Scale.of(20_000)
        onThreads(2) { thread in
            if thread == 0 {
                for _ in 0..<rounds {
                    let captured = Captured(alive)
                    queue.addOperation { if captured.value.load(ordering: .relaxed) != 42 { wrong.add() } }
                }
                drains(queue)
                ended.store(true, ordering: .releasing)
            } else {
                while !ended.load(ordering: .acquiring) {
                    for operation in queue.operations.prefix(8) { if operation.isCancelled { wrong.add() } }
                }
            }
        }
        #expect(wrong.value == 0)
        #expect(eventually("nothing captured is left") { alive.value == 0 })
        #expect(queue.operationCount == 0 && queue.operations.isEmpty)
    }
}

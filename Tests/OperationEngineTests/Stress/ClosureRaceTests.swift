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
}

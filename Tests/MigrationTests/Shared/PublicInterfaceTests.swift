import Foundation
import TestSupport
import Testing

#if SCOPED_IMPORTS
    import class OperationEngine.BlockOperation
    import class OperationEngine.Operation
    import class OperationEngine.OperationQueue
    import enum OperationEngine.QualityOfService
    import OperationEngineProgress
#endif

@Suite("The public interface of Foundation's classes", .blocking)
struct PublicInterfaceTests {
    @Test("constants and raw values are the same")
    func constants() {
        let values = usePublicMembers(of: Operation(), in: OperationQueue()).map { "\($0)" }
        #expect(Array(values.prefix(4)) == ["[]", "0", "[-8, -4, 0, 4, 8]", "5"])
        #expect(values[4] == "nil" && values[5].contains("veryLow"))
        #expect(values[6].contains("utility") && values[7] == "nil")
        #expect(Array(values.suffix(2)) == ["-1", "1"])
    }

    @Test("defaults are the same")
    func defaults() {
        let (operation, queue) = (Operation(), OperationQueue())
        #expect(operation.queuePriority == .normal && operation.qualityOfService == .default && operation.name == nil)
        #expect(operation.completionBlock == nil && operation.dependencies.isEmpty)
        #expect(queue.maxConcurrentOperationCount == -1 && !queue.isSuspended && queue.name?.isEmpty == false)
        #expect(queue.qualityOfService == .default)
    }

    @Test("main and current, overridden by a subclass: its own are asked, and the others' stay what they are")
    func ownMainAndCurrent() {
        final class OwnQueue: OperationQueue, @unchecked Sendable {
            static let shared = OwnQueue()
            override class var main: OperationQueue { shared }
            override class var current: OperationQueue? { super.current as? OwnQueue }
        }
        let type: OperationQueue.Type = OwnQueue.self
        #expect(type.main === OwnQueue.shared && EveryQueueOverride.main === OperationQueue.main)
        #expect(OperationQueue.main !== OwnQueue.shared)
        let seen = Recorder<[OperationQueue?]>()
        let other = OperationQueue()
        for queue in [OwnQueue.shared, other] {
            queue.addOperations(
                [BlockOperation { seen.append([type.current, OperationQueue.current]) }], waitUntilFinished: true)
        }
        #expect(seen.entries == [[OwnQueue.shared, OwnQueue.shared], [nil, other]])
    }

    @Test("a queue reports a progress, and is the object that Foundation's protocols ask for")
    func progressReporting() {
        let queue = OperationQueue()
        let reporting: any ProgressReporting = queue
        reporting.progress.totalUnitCount = 2
        queue.addOperations([Operation()], waitUntilFinished: true)
        #expect(reporting.progress === queue.progress && queue.progress.completedUnitCount == 1)
        let object: any NSObjectProtocol = queue
        #expect(object.isEqual(queue) && !object.isEqual(OperationQueue()) && !object.isEqual("queue"))
        #expect(object.hash == queue.hash && !object.isProxy() && object.`self`() === queue)
        #expect(!object.description.isEmpty && !object.debugDescription.isEmpty)
    }

    @Test("equality of queues is a subclass's to decide")
    func equalQueues() {
        final class NamedQueue: OperationQueue, @unchecked Sendable {
            override func isEqual(_ object: Any?) -> Bool { (object as? NamedQueue)?.name == name }
            override var hash: Int { name.hashValue }
        }
        let queues = ["a", "a", "b"].map { name in
            let queue = NamedQueue()
            queue.name = name
            return queue
        }
        #expect(queues[0] == queues[1] && queues[0] != queues[2] && Set<OperationQueue>(queues).count == 2)
    }

    @Test("subclasses that override every member work as those that override none")
    func everyOverride() {
        let queue = EveryQueueOverride()
        queue.maxConcurrentOperationCount = 2
        let completions = Counter()
        let operations = (0..<20).map { index in index % 2 == 0 ? EveryOverride() : EveryBlockOverride() }
        for (first, second) in zip(operations, operations.dropFirst()) { second.addDependency(first) }
        for operation in operations { operation.completionBlock = { completions.add() } }
        (operations[3] as? EveryBlockOverride)?.addExecutionBlock { completions.add(100) }
        operations[10].cancel()
        queue.addOperations(operations, waitUntilFinished: true)
        queue.addOperation { completions.add(1_000) }
        queue.waitUntilAllOperationsAreFinished()
        completions.wait(for: 1_120)
        #expect(operations.allSatisfy(\.isFinished) && operations.filter(\.isCancelled) == [operations[10]])
    }
}

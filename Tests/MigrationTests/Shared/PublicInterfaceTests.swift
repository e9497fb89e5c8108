import Foundation
import TestSupport
import Testing

#if SCOPED_IMPORTS
    import class OperationEngine.Operation
    import class OperationEngine.OperationQueue
    import enum OperationEngine.QualityOfService
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

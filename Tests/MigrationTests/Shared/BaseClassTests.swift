import Foundation
import TestSupport
import Testing

#if SCOPED_IMPORTS
    import class OperationEngine.BlockOperation
    import class OperationEngine.Operation
    import class OperationEngine.OperationQueue
#endif

/// Base classes that decide about their end themselves, as published libraries have them.
@Suite("Base classes written for Foundation", .blocking)
struct BaseClassTests {
    /// The work of the two base classes after their `main`, on their own thread.
    private final class Load: @unchecked Sendable {
        let log = Recorder<String>()
        let loader = DispatchQueue(label: "loader")
        let mayEnd = Gate("the load may end")

        func begin(_ name: String, _ finish: @escaping @Sendable () -> Void) {
            log.append("begin \(name)")
            loader.async { [self] in
                mayEnd.wait()
                log.append("end \(name)")
                finish()
            }
        }
    }

    private final class MainBasedLoad: MainBasedOperation, @unchecked Sendable {
        let load: Load
        init(_ load: Load) { self.load = load }
        override func execute() { load.begin("main") { self.finish() } }
    }

    private final class StartBasedLoad: StartBasedOperation, @unchecked Sendable {
        let load: Load
        init(_ load: Load) { self.load = load }
        override func execute() { load.begin("start") { self.finish() } }
    }

    @Test("loads come one after another, and what follows comes after them")
    func loads() {
        let load = Load()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let operations = [MainBasedLoad(load), StartBasedLoad(load)]
        let last = BlockOperation { load.log.append("last") }
        for operation in operations { last.addDependency(operation) }
        let elsewhere = OperationQueue()
        elsewhere.addOperation(last)
        queue.addOperations(operations, waitUntilFinished: false)
        // Foundation may lose the slot of an operation that announces its end just when its main returns.
        eventually("the first load begins") { load.log.entries == ["begin main"] }
        _ = Guarded(false).wait(within: .milliseconds(30)) { $0 }
        load.mayEnd.open()
        #expect(completes("the loads") { queue.waitUntilAllOperationsAreFinished() })
        #expect(completes("the last") { elsewhere.waitUntilAllOperationsAreFinished() })
        #expect(load.log.entries == ["begin main", "end main", "begin start", "end start", "last"])
    }

    @Test("cancelled before they start, they end without their work", arguments: [false, true])
    func cancelled(isStartBased: Bool) {
        let load = Load()
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation: Operation = isStartBased ? StartBasedLoad(load) : MainBasedLoad(load)
        queue.addOperation(operation)
        operation.cancel()
        queue.isSuspended = false
        #expect(completes("the cancelled one") { queue.waitUntilAllOperationsAreFinished() })
        // The inherited start ends it, and frees its place in the queue, before the overridden one says so (C14).
        eventually("it says that it is finished") { operation.isFinished }
        #expect(load.log.entries == [])
    }

    @Test("a group ends with its last child")
    func group() {
        let children = (0..<20).map { _ in BlockOperation {} }
        let group = GroupOfOperations(children)
        let queue = OperationQueue()
        queue.addOperation(group)
        #expect(completes("the group") { queue.waitUntilAllOperationsAreFinished() })
        #expect(children.allSatisfy { $0.isFinished })
    }

    @Test("one that says it executes from the beginning runs")
    func eager() {
        let queue = OperationQueue()
        let operation = EagerOperation()
        queue.addOperation(operation)
        #expect(completes("the eager one") { queue.waitUntilAllOperationsAreFinished() })
        #expect(operation.isFinished)
    }

    @Test("a completion block finds its operation, which nobody else keeps")
    func weakCompletion() {
        let (found, called) = (Counter(), Counter())
        let queue = OperationQueue()
        for _ in 0..<1_000 {
            let operation = BlockOperation {}
            operation.completionBlock = { [weak operation] in
                if operation != nil { found.add() }
                called.add()
            }
            queue.addOperation(operation)
        }
        called.wait(for: 1_000)
        #expect(found.value == 1_000)
    }
}

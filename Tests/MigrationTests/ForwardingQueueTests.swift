import Foundation
import OperationEngine
import OperationEngineFoundation
import TestSupport
import Testing

private typealias EngineQueue = OperationEngine.OperationQueue

/// Foundation's operations in a queue that forwards to one of the engine.
@Suite("A queue of Foundation's that forwards", .blocking)
struct ForwardingQueueTests {
    private let target = EngineQueue()
    private let log = Recorder<String>()
    private let queue: ForwardingQueue

    init() {
        target.maxConcurrentOperationCount = 1
        queue = ForwardingQueue(to: target)
    }

    private func logging(_ text: String) -> Foundation.BlockOperation {
        Foundation.BlockOperation { [log, target] in
            log.append(EngineQueue.current === target ? text : "\(text) elsewhere")
        }
    }

    @Test("operations of Foundation's take their turn among the engine's")
    func turns() {
        queue.isSuspended = true
        let urgent = logging("urgent")
        urgent.queuePriority = .veryHigh
        let blocks = [logging("first"), logging("second")]
        queue.addOperations(blocks, waitUntilFinished: false)
        target.addOperation { [log] in log.append("third") }
        queue.addOperation(urgent)
        #expect(target.operationCount == 4 && log.entries.isEmpty)
        queue.isSuspended = false
        queue.addOperations([logging("last")], waitUntilFinished: true)
        #expect(log.entries == ["urgent", "first", "second", "third", "last"])
        #expect((blocks + [urgent]).allSatisfy { $0.isFinished })
    }

    @Test("one that waits for an operation elsewhere takes no slot until that is finished")
    func dependencies() {
        let (first, second) = (Foundation.BlockOperation(), logging("second"))
        second.addDependency(first)
        queue.addOperation(second)
        queue.addOperations([logging("meanwhile")], waitUntilFinished: true)
        // What carried the other one is counted out a moment after that has finished.
        #expect(eventually("nothing takes a slot") { target.operationCount == 0 })
        #expect(!second.isFinished)
        first.start()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["meanwhile", "second"] && second.isFinished)
    }

    @Test("one that becomes ready a moment after its dependencies have finished runs there all the same")
    func lateReadiness() {
        final class Late: Foundation.Operation, @unchecked Sendable {
            let (asked, act) = (Guarded(0), Guarded<@Sendable () -> Void>({}))
            override var isReady: Bool {
                super.isReady
                    && asked.withLock {
                        $0 += 1
                        return $0 > 8
                    }
            }
            override func main() { act.read()() }
        }
        let (first, late) = (Foundation.BlockOperation(), Late())
        late.act.withLock { [log, target] in
            $0 = { log.append(EngineQueue.current === target ? "late" : "late elsewhere") }
        }
        late.addDependency(first)
        queue.addOperation(late)
        first.start()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["late"] && late.isFinished)
    }

    @Test("an asynchronous one keeps its slot until it says that it is finished")
    func asynchronous() {
        final class Question: Foundation.Operation, @unchecked Sendable {
            private let state = Guarded(0)
            override var isAsynchronous: Bool { true }
            override var isExecuting: Bool { state.read() == 1 }
            override var isFinished: Bool { state.read() == 2 }
            override func start() { state.withLock { $0 = 1 } }
            func answer() {
                state.withLock { $0 = 2 }
                didChangeValue(forKey: "isFinished")
            }
        }
        let question = Question()
        queue.addOperation(question)
        queue.addOperation(logging("after"))
        #expect(eventually("it is asked") { question.isExecuting })
        #expect(log.entries.isEmpty && target.operationCount == 2)
        question.answer()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["after"])
    }

    @Test("cancelAllOperations: nothing runs, and everything is finished, whatever it waits for")
    func cancelAll() {
        queue.isSuspended = true
        let never = Foundation.BlockOperation()
        let operations = (0..<3).map { logging("\($0)") }
        operations[1].addDependency(never)
        operations[2].addDependency(operations[1])
        for operation in operations { queue.addOperation(operation) }
        queue.addOperation { [log] in log.append("block") }
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.isCancelled && $0.isFinished } && log.entries.isEmpty)
    }

    @Test("a dependency that finishes after its cancelled dependents are freed finds none of them")
    func freedDependents() {
        for dependents in 1...40 {
            let dependency = Foundation.BlockOperation()
            for _ in 0..<dependents {
                let operation = Foundation.Operation()
                operation.addDependency(dependency)
                queue.addOperation(operation)
            }
            queue.cancelAllOperations()
            queue.waitUntilAllOperationsAreFinished()
            // Their memory, used again.
            let others = (0..<4 * dependents).map { _ in [UInt](repeating: 0x5A5A_5A5A, count: 24) }
            dependency.start()
            #expect(dependency.isFinished && others.count == 4 * dependents)
        }
    }

    @Test("one that is ready by its own account runs when it says so")
    func ownReadiness() {
        final class Gated: Foundation.Operation, @unchecked Sendable {
            let isOpen = Guarded(false)
            let ran = Gate("it runs")
            override var isReady: Bool { super.isReady && isOpen.read() }
            override func main() { ran.open() }
        }
        let gated = Gated()
        queue.addOperation(gated)
        queue.addOperations([logging("other")], waitUntilFinished: true)
        #expect(eventually("it is passed on") { target.operationCount == 0 })
        gated.isOpen.withLock { $0 = true }
        gated.didChangeValue(forKey: "isReady")
        gated.ran.wait()
        queue.waitUntilAllOperationsAreFinished()
        #expect(gated.isFinished && log.entries == ["other"])
    }

    @Test("settings are those of the engine's queue, and nothing keeps it once both are dropped")
    func settings() {
        let dispatchQueue = DispatchQueue(label: "under")
        queue.name = "calls"
        queue.underlyingQueue = dispatchQueue
        queue.maxConcurrentOperationCount = 3
        #expect(target.name == "calls" && target.underlyingQueue === dispatchQueue)
        #expect(target.maxConcurrentOperationCount == 3 && queue.maxConcurrentOperationCount == 3)
        for quality in [Foundation.QualityOfService.userInteractive, .userInitiated, .utility, .background, .default] {
            queue.qualityOfService = quality
            #expect(queue.qualityOfService == quality && "\(target.qualityOfService)" == "\(quality)")
        }
        weak var dropped: EngineQueue?
        do {
            let target = EngineQueue()
            dropped = target
            let queue = ForwardingQueue(to: target)
            let first = Foundation.BlockOperation()
            let second = Foundation.BlockOperation()
            second.addDependency(first)
            queue.addOperations([second, first], waitUntilFinished: true)
        }
        #expect(eventually("the queue is freed") { dropped == nil })
    }
}

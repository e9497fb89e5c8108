import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("Q: ownership", .blocking)
struct OwnershipTests {
    @Test("a queue keeps an operation until it is finished, then releases it", .contract("Q1", "Q2"))
    func queueRetains() {
        let freed = Counter()
        let queue = makeQueue(suspended: true)
        for _ in 0..<50 { queue.addOperation(CountedOperation(freed: freed)) }
        #expect(freed.value == 0)
        queue.isSuspended = false
        drains(queue)
        freed.wait(for: 50)
    }

    @Test("dependents keep their dependencies until they are freed or remove them", .contract("Q2"))
    func dependentsRetain() {
        let freed = Counter()
        let queue = makeQueue()
        var dependent: Operation? = CountedOperation(freed: freed)
        weak var dependency: Operation?
        for _ in 0..<3 {
            let operation = CountedOperation(freed: freed)
            dependency = operation
            dependent?.addDependency(operation)
            queue.addOperation(operation)
        }
        drains(queue)
        #expect(dependency != nil && freed.value == 0)
        dependent = nil
        freed.wait(for: 4)
        #expect(dependency == nil)
    }

    @Test("removing a finished dependency releases it", .contract("Q2"))
    func removeReleases() {
        let freed = Counter()
        let dependent = Operation()
        dependent.addDependency(CountedOperation(freed: freed))
        #expect(freed.value == 0)
        dependent.dependencies.first?.start()
        if let dependency = dependent.dependencies.first {
            dependent.removeDependency(dependency)
        }
        eventually("the dependency is freed") { freed.value == 1 }
    }

    @Test("a queue dropped by its user still runs its operations", .contract("Q3"))
    func droppedQueue() {
        let runs = Counter()
        for _ in 0..<20 {
            let queue = makeQueue(limit: 1)
            for _ in 0..<10 { queue.addOperation { runs.add() } }
        }
        runs.wait(for: 200)
    }

    @Test("a queue whose operations wait for another's stays alive", .contract("Q3"))
    func droppedWhileWaiting() {
        let runs = Counter()
        let dependency = MainOperation()
        do {
            let queue = makeQueue()
            let dependent = MainOperation { _ in runs.add() }
            dependent.addDependency(dependency)
            queue.addOperation(dependent)
        }
        #expect(runs.value == 0)
        dependency.start()
        runs.wait(for: 1)
    }

    @Test("an idle queue is freed when its user drops it", .contract("Q3"))
    func idleQueueIsFreed() {
        weak var freedQueue: OperationQueue?
        do {
            let queue = makeQueue()
            freedQueue = queue
            for _ in 0..<10 { queue.addOperation {} }
            drains(queue)
        }
        eventually("the queue is freed") { freedQueue == nil }
    }

    @Test("an operation its user keeps outlives the queue's interest in it", .contract("Q4"))
    func resultsAreKept() {
        final class Sum: Operation, @unchecked Sendable {
            private(set) var result = 0
            override func main() { result = (1...10).reduce(0, +) }
        }
        let operation = Sum()
        let queue = makeQueue()
        queue.addOperation(operation)
        finishes(operation)
        #expect(operation.result == 55)
    }

    @Test("cancelled operations stay in a suspended queue and are released on its resume", .contract("Q6"))
    func cancelledInSuspendedQueue() {
        let freed = Counter()
        let queue = makeQueue(suspended: true)
        for _ in 0..<20 { queue.addOperation(CountedOperation(freed: freed)) }
        queue.cancelAllOperations()
        #expect(queue.operationCount == 20 && freed.value == 0)
        queue.isSuspended = false
        drains(queue)
        freed.wait(for: 20)
    }
}

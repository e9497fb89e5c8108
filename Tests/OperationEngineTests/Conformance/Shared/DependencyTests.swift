import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("E: dependencies", .blocking)
struct DependencyTests {
    @Test("the dependent waits, the dependency does not", .contract("E1", "E2"))
    func oneDirection() {
        let (first, second) = (MainOperation(), MainOperation())
        second.addDependency(first)
        #expect(first.isReady && !second.isReady)
        #expect(first.dependencies.isEmpty)
        first.start()
        #expect(second.isReady)
        second.start()
        #expect(second.isFinished)
    }

    @Test("across two queues, and from an operation in no queue", .contract("E3"))
    func acrossQueues() {
        let log = Recorder<Int>()
        let operations = numbered(3, into: log)
        operations[1].addDependency(operations[0])
        operations[2].addDependency(operations[1])
        let (left, right) = (makeQueue(limit: 1), makeQueue(limit: 1))
        left.addOperation(operations[2])
        right.addOperation(operations[1])
        operations[0].start()
        drains(left)
        drains(right)
        #expect(log.entries == [0, 1, 2])
    }

    @Test("ready when all dependencies are finished, not before", .contract("E4"))
    func manyDependencies() {
        let dependencies = (0..<100).map { _ in MainOperation() }
        let dependent = MainOperation()
        for dependency in dependencies { dependent.addDependency(dependency) }
        var readyTooSoon = false
        for dependency in dependencies {
            readyTooSoon = readyTooSoon || dependent.isReady
            dependency.start()
        }
        #expect(!readyTooSoon)
        #expect(dependent.isReady)
        #expect(dependent.dependencies.count == 100)
    }

    @Test("a cancelled dependency unlocks when it is finished, not when it is cancelled", .contract("E5", "E6", "J8"))
    func cancelledDependency() {
        let runs = Counter()
        let dependency = MainOperation()
        let dependent = MainOperation { _ in runs.add() }
        dependent.addDependency(dependency)
        dependency.cancel()
        #expect(!dependent.isReady)
        dependency.start()
        #expect(dependent.isReady && !dependent.isCancelled)
        dependent.start()
        #expect(runs.value == 1)
    }

    @Test("a cancelled, still executing dependency unlocks when its main returns", .contract("E7"))
    func cancelledWhileExecuting() {
        let queue = makeQueue()
        let blocker = Blocker()
        let dependent = MainOperation()
        dependent.addDependency(blocker.operation)
        queue.addOperation(dependent)
        blocker.occupy(queue)
        blocker.operation.cancel()
        #expect(!dependent.isReady && !blocker.operation.isFinished)
        blocker.release.open()
        drains(queue)
        #expect(dependent.isFinished)
    }

    @Test("dependents run whether the dependency succeeded or was cancelled", .contract("E8"))
    func noFailurePropagation() {
        let runs = Counter()
        let dependency = MainOperation()
        let dependents = (0..<5).map { _ in MainOperation { _ in runs.add() } }
        for dependent in dependents { dependent.addDependency(dependency) }
        dependency.cancel()
        let queue = makeQueue()
        queue.addOperations(dependents + [dependency], waitUntilFinished: false)
        drains(queue)
        #expect(runs.value == 5)
        #expect(dependents.allSatisfy { !$0.isCancelled })
    }

    @Test("adding a dependency twice counts once", .contract("E9"))
    func duplicate() {
        let dependency = MainOperation()
        let dependent = MainOperation()
        dependent.addDependency(dependency)
        dependent.addDependency(dependency)
        #expect(areSame(dependent.dependencies, [dependency]))
        dependency.start()
        #expect(dependent.isReady)
    }

    @Test("a finished dependency does not block and is listed", .contract("E10"))
    func finishedDependency() {
        let dependency = MainOperation()
        dependency.start()
        let dependent = MainOperation()
        dependent.addDependency(dependency)
        #expect(dependent.isReady)
        #expect(areSame(dependent.dependencies, [dependency]))
    }

    @Test("a dependency stays listed after it has finished, until removed", .contract("E11"))
    func staysListed() {
        let dependency = MainOperation()
        let dependent = MainOperation()
        dependent.addDependency(dependency)
        dependency.start()
        dependent.start()
        #expect(areSame(dependent.dependencies, [dependency]))
        dependent.removeDependency(dependency)
        #expect(dependent.dependencies.isEmpty)
    }

    @Test("dependencies are listed in the order added", .contract("E12"))
    func listedInOrder() {
        let dependencies = (0..<20).map { _ in MainOperation() }
        let dependent = MainOperation()
        for dependency in dependencies { dependent.addDependency(dependency) }
        #expect(areSame(dependent.dependencies, dependencies))
        dependent.removeDependency(dependencies[3])
        #expect(areSame(dependent.dependencies, Array(dependencies[..<3] + dependencies[4...])))
    }

    @Test("removing what is not a dependency does nothing", .contract("E14"))
    func removeStranger() {
        let (dependency, stranger, dependent) = (MainOperation(), MainOperation(), MainOperation())
        dependent.addDependency(dependency)
        dependent.removeDependency(stranger)
        stranger.removeDependency(dependent)
        #expect(areSame(dependent.dependencies, [dependency]))
        #expect(!dependent.isReady)
    }

    @Test("a cycle never runs and harms nobody; cancelling a member breaks it", .contract("E15", "E16"))
    func cycle() {
        let log = Recorder<Int>()
        let operations = numbered(3, into: log)
        for index in 0..<3 { operations[index].addDependency(operations[(index + 1) % 3]) }
        let queue = makeQueue()
        queue.addOperations(operations, waitUntilFinished: false)
        let other = makeQueue()
        let runs = Counter()
        for _ in 0..<10 {
            other.addOperation { runs.add() }
            queue.addOperation { runs.add() }
        }
        drains(other)
        runs.wait(for: 20)
        #expect(operations.allSatisfy { !$0.isReady && !$0.isFinished })
        operations[0].cancel()
        drains(queue)
        #expect(log.entries == [2, 1])
        // A cycle keeps itself alive until somebody undoes it.
        for index in 0..<3 { operations[index].removeDependency(operations[(index + 1) % 3]) }
    }

    @Test("a dependency added to a waiting operation blocks it", .contract("E18"))
    func lateDependency() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let operations = numbered(2, into: log)
        queue.addOperation(operations[0])
        queue.addOperation(operations[1])
        operations[0].addDependency(operations[1])
        #expect(!operations[0].isReady)
        blocker.release.open()
        drains(queue)
        #expect(log.entries == [1, 0])
    }

    @Test("a dependency added after the start changes nothing", .contract("E19"))
    func dependencyAfterStart() {
        let never = MainOperation()
        let operation = MainOperation { $0.addDependency(never) }
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(operation.isFinished)
        operation.addDependency(MainOperation())
        #expect(operation.isFinished && !operation.isExecuting)
    }

    @Test("the order of adding is irrelevant", .contract("E20"))
    func dependentFirst() {
        let log = Recorder<Int>()
        let operations = numbered(50, into: log)
        for index in 1..<50 { operations[index].addDependency(operations[index - 1]) }
        let queue = makeQueue()
        for operation in operations.reversed() { queue.addOperation(operation) }
        drains(queue)
        #expect(log.entries == Array(0..<50))
    }

    @Test("a diamond runs once each, in order, and later operations see earlier writes", .contract("E24"))
    func diamond() {
        final class Cells: @unchecked Sendable { var values = [0, 0, 0, 0] }
        let queue = makeQueue()
        for _ in 0..<Scale.of(500) {
            let cells = Cells()
            let top = MainOperation { _ in cells.values[0] = 1 }
            let left = MainOperation { _ in cells.values[1] = cells.values[0] + 1 }
            let right = MainOperation { _ in cells.values[2] = cells.values[0] + 2 }
            let bottom = MainOperation { _ in cells.values[3] = cells.values[1] + cells.values[2] }
            left.addDependency(top)
            // Right follows left, so that no two operations touch the cells at once.
            right.addDependency(left)
            bottom.addDependency(left)
            bottom.addDependency(right)
            queue.addOperations([bottom, right, left, top], waitUntilFinished: false)
            finishes(bottom)
            #expect(cells.values == [1, 2, 3, 5])
        }
    }
}

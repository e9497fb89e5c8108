import OperationEngine
import TestSupport
import Testing

/// The engine's promises about dependencies beyond those of Foundation on Linux.
@Suite("E: dependencies, the engine's own lines", .blocking)
struct EngineDependencyTests {
    @Test("a dependency added twice is listed once and removed whole", .contract("E9"))
    func duplicateRemoved() {
        let (dependency, dependent) = (MainOperation(), MainOperation())
        for _ in 0..<3 { dependent.addDependency(dependency) }
        #expect(areSame(dependent.dependencies, [dependency]))
        dependent.removeDependency(dependency)
        #expect(dependent.dependencies.isEmpty && dependent.isReady)
    }

    @Test("a repeated dependency keeps its first place in the list", .contract("E9", "E12"))
    func duplicateOrder() {
        let (first, second, dependent) = (MainOperation(), MainOperation(), MainOperation())
        for dependency in [first, second, first] { dependent.addDependency(dependency) }
        #expect(areSame(dependent.dependencies, [first, second]))
    }

    @Test("removing an unfinished dependency makes the dependent ready", .contract("E13"))
    func removeUnfinished() {
        let (left, right, dependent) = (MainOperation(), MainOperation(), MainOperation())
        dependent.addDependency(left)
        dependent.addDependency(right)
        dependent.removeDependency(left)
        #expect(!dependent.isReady)
        dependent.removeDependency(right)
        #expect(dependent.isReady)
        dependent.start()
        #expect(dependent.isFinished && !left.isFinished)
    }

    @Test("a dependency added once it executes takes no readiness away", .contract("E19"))
    func dependencyOnceExecuting() {
        let wasReady = Counter()
        let operation = MainOperation {
            $0.addDependency(MainOperation())
            if $0.isReady { wasReady.add() }
        }
        operation.start()
        #expect(wasReady.value == 1)
        #expect(operation.isFinished && operation.isReady)
        operation.addDependency(MainOperation())
        #expect(operation.isReady)
    }

    @Test("in a queue, the dependent then runs", .contract("E13"))
    func removeUnfinishedInQueue() {
        let queue = makeQueue()
        let never = MainOperation()
        let dependents = (0..<50).map { _ in MainOperation() }
        for dependent in dependents { dependent.addDependency(never) }
        queue.addOperations(dependents, waitUntilFinished: false)
        for dependent in dependents { dependent.removeDependency(never) }
        drains(queue)
        #expect(dependents.allSatisfy { $0.isFinished })
        // The finish of a removed dependency reaches nobody.
        never.start()
        #expect(never.isFinished)
    }

    @Test("removing a finished dependency leaves readiness to the others", .contract("E13"))
    func removeFinished() {
        let (done, open, dependent) = (MainOperation(), MainOperation(), MainOperation())
        dependent.addDependency(done)
        dependent.addDependency(open)
        done.start()
        dependent.removeDependency(done)
        #expect(!dependent.isReady)
        open.start()
        #expect(dependent.isReady)
    }

    @Test("a removed dependency can be added again", .contract("E13"))
    func removeAndAddAgain() {
        let (dependency, dependent) = (MainOperation(), MainOperation())
        for _ in 0..<10 {
            dependent.addDependency(dependency)
            #expect(!dependent.isReady)
            dependent.removeDependency(dependency)
            #expect(dependent.isReady)
        }
        dependent.addDependency(dependency)
        dependency.start()
        #expect(dependent.isReady)
    }

    @Test("a dependent freed before its dependency finishes is not touched", .contract("E21"))
    func freedDependent() {
        for kept in 0..<4 {
            let freed = Counter()
            let dependency = MainOperation()
            var dependents: [CountedOperation] = (0..<4).map { _ in CountedOperation(freed: freed) }
            for dependent in dependents { dependent.addDependency(dependency) }
            let survivor = dependents[kept]
            dependents = []
            #expect(freed.value == 3)
            dependency.start()
            #expect(survivor.isReady)
        }
    }

    /// Few enough for the finishing thread to release them in one go, and too many.
    @Test(
        "dependents freed while their dependency finishes", .contract("E21"), arguments: [1, 2, 3, 8, 150],
        [false, true])
    func freedWhileFinishing(width: Int, atOnce: Bool) {
        let freed = Counter()
        let rounds = Scale.of(4_000 / width)
        for _ in 0..<rounds {
            let dependency = MainOperation()
            let dependents = Guarded((0..<width).map { _ in CountedOperation(freed: freed) })
            dependents.withLock { list in
                if atOnce {
                    let pairs = list.indices.map { (of: $0, on: width) }
                    return Operation.addDependencies(pairs, among: list + [dependency])
                }
                for dependent in list { dependent.addDependency(dependency) }
            }
            onThreads(2) { thread in
                if thread == 0 {
                    dependency.start()
                } else {
                    while let last = dependents.withLock({ $0.popLast() }) { _ = last.isReady }
                }
            }
            #expect(dependency.isFinished)
        }
        freed.wait(for: rounds * width)
    }

    @Test(
        "a dependency added late across queues either blocks or comes too late, but never half", .contract("E18", "E3"))
    func lateAcrossQueues() {
        let (left, right) = (makeQueue(), makeQueue())
        for _ in 0..<Scale.of(500) {
            let dependency = MainOperation()
            let ranTooSoon = Counter()
            let mustWait = Guarded(false)
            let dependent = MainOperation { _ in
                if mustWait.read() && !dependency.isFinished { ranTooSoon.add() }
            }
            left.addOperation(dependent)
            dependent.addDependency(dependency)
            if !dependent.isReady { mustWait.withLock { $0 = true } }
            right.addOperation(dependency)
            finishes(dependent)
            #expect(ranTooSoon.value == 0)
        }
    }
}

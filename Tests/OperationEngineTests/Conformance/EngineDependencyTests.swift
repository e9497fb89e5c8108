import OperationEngine
import TestSupport
import Testing

/// What the engine promises about dependencies beyond what Foundation on Linux does.
@Suite("E: dependencies, the engine's own lines", .blocking)
struct EngineDependencyTests {
    @Test("E9: a dependency added twice is listed once and removed whole")
    func duplicateRemoved() {
        let (dependency, dependent) = (MainOperation(), MainOperation())
        for _ in 0..<3 { dependent.addDependency(dependency) }
        #expect(areSame(dependent.dependencies, [dependency]))
        dependent.removeDependency(dependency)
        #expect(dependent.dependencies.isEmpty && dependent.isReady)
    }

    @Test("E9 E12: a repeated dependency keeps its first place in the list")
    func duplicateOrder() {
        let (first, second, dependent) = (MainOperation(), MainOperation(), MainOperation())
        for dependency in [first, second, first] { dependent.addDependency(dependency) }
        #expect(areSame(dependent.dependencies, [first, second]))
    }

    @Test("E13: removing an unfinished dependency makes the dependent ready")
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

    @Test("E19: a dependency added once it executes takes no readiness away")
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

    @Test("E13: in a queue, the dependent then runs")
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

    @Test("E13: removing a finished dependency leaves readiness to the others")
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

    @Test("E13: a removed dependency can be added again")
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

    @Test("E21: a dependent freed before its dependency finishes is not touched")
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
    @Test("E21: dependents freed while their dependency finishes", arguments: [2, 3, 8, 150])
    func freedWhileFinishing(width: Int) {
        let freed = Counter()
        let rounds = Scale.of(4_000 / width)
        for _ in 0..<rounds {
            let dependency = MainOperation()
            let dependents = Guarded((0..<width).map { _ in CountedOperation(freed: freed) })
            dependents.withLock { list in
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

    @Test("E18 E3: a dependency added late across queues either blocks or comes too late, but never half")
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

import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

/// An operation with a readiness of its own beside its dependencies'.
final class HeldOperation: Operation, @unchecked Sendable {
    let runs = Counter()
    private let allowed = Guarded(false)
    private let obeysDependencies: Bool

    init(obeysDependencies: Bool = true) {
        self.obeysDependencies = obeysDependencies
        super.init()
    }

    override var isReady: Bool { allowed.read() && (!obeysDependencies || super.isReady) }

    override func main() { runs.add() }

    /// Announces a change where there may be none.
    func announce() {
        willChangeValue(forKey: "isReady")
        didChangeValue(forKey: "isReady")
    }

    /// Changes the readiness and announces it.
    func allow(_ isAllowed: Bool = true) {
        willChangeValue(forKey: "isReady")
        allowed.withLock { $0 = isAllowed }
        didChangeValue(forKey: "isReady")
    }
}

/// Starts itself, in no queue, when it is asked and finds itself ready, as evaluators of conditions do.
final class SelfStartingOperation: Operation, @unchecked Sendable {
    let asks = Counter()
    let threads = Recorder<Int32>()
    private let isAllowed: Guarded<Bool>
    private let hasBegun = Guarded(false)

    init(isAllowed: Bool = true) {
        self.isAllowed = Guarded(isAllowed)
        super.init()
    }

    override var isReady: Bool {
        asks.add()
        guard super.isReady, isAllowed.read() else { return false }
        let isFirst = hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
        if isFirst { start() }
        return true
    }

    override func main() { threads.append(ThreadFacts.id) }

    func allow() {
        isAllowed.withLock { $0 = true }
        didChangeValue(forKey: "isReady")
    }
}

@Suite("F: readiness of one's own", .blocking)
struct ReadinessOverrideTests {
    @Test("an override holds the operation back until the change is announced", .contract("F1", "F3"))
    func held() {
        let queue = makeQueue()
        let operation = HeldOperation()
        queue.addOperation(operation)
        let others = Counter()
        for _ in 0..<50 { queue.addOperation { others.add() } }
        others.wait(for: 50)
        #expect(operation.runs.value == 0 && !operation.isReady)
        operation.allow()
        drains(queue)
        #expect(operation.runs.value == 1)
    }

    @Test("with super's readiness, dependencies hold too, whichever comes last", .contract("F2"))
    func dependenciesHold() {
        for isAllowedFirst in [true, false] {
            let queue = makeQueue()
            let dependency = MainOperation()
            let operation = HeldOperation()
            operation.addDependency(dependency)
            queue.addOperation(operation)
            if isAllowedFirst { operation.allow() } else { dependency.start() }
            #expect(operation.runs.value == 0 && !operation.isFinished)
            if isAllowedFirst { dependency.start() } else { operation.allow() }
            drains(queue)
            #expect(operation.runs.value == 1)
        }
    }

    @Test("an override that says false keeps a cancelled operation waiting", .contract("F6"))
    func cancelledStaysHeld() {
        let queue = makeQueue()
        let operation = HeldOperation()
        queue.addOperation(operation)
        operation.cancel()
        let others = Counter()
        for _ in 0..<50 { queue.addOperation { others.add() } }
        others.wait(for: 50)
        #expect(!operation.isFinished && operation.isCancelled)
        operation.allow()
        drains(queue)
        #expect(operation.isFinished && operation.runs.value == 0)
    }

    @Test("in no queue, the end of the last dependency asks, on its thread", .contract("F8"), arguments: [1, 2, 100])
    func askedByLastDependency(count: Int) {
        let dependencies = (0..<count).map { _ in MainOperation() }
        let operations = [SelfStartingOperation(), SelfStartingOperation()]
        for operation in operations { dependencies.forEach(operation.addDependency) }
        for dependency in dependencies {
            #expect(operations.allSatisfy { !$0.isFinished })
            let asks = operations.map(\.asks.value)
            dependency.start()
            if dependency !== dependencies.last { #expect(operations.map(\.asks.value) == asks) }
        }
        for operation in operations {
            #expect(operation.isFinished && operation.threads.entries == [ThreadFacts.id])
        }
    }

    @Test("in no queue, adding and removing a dependency asks", .contract("F8"))
    func askedByDependencies() {
        let held = SelfStartingOperation(isAllowed: false)
        let dependency = MainOperation()
        held.addDependency(dependency)
        #expect(held.asks.value == 1)
        held.removeDependency(dependency)
        #expect(held.asks.value == 2 && !held.isFinished)
        let operation = SelfStartingOperation()
        let finished = MainOperation()
        finished.start()
        operation.addDependency(finished)
        #expect(operation.isFinished && operation.threads.entries.count == 1)
    }

    @Test("in no queue, an announcement asks", .contract("F8"))
    func askedByAnnouncement() {
        let operation = SelfStartingOperation(isAllowed: false)
        let dependency = MainOperation()
        operation.addDependency(dependency)
        dependency.start()
        #expect(!operation.isFinished)
        operation.allow()
        #expect(operation.isFinished && operation.threads.entries == [ThreadFacts.id])
    }

    @Test("in no queue, a cancellation asks", .contract("F8", "B7"))
    func askedByCancellation() {
        let operation = SelfStartingOperation()
        operation.addDependency(MainOperation())
        operation.cancel()
        #expect(operation.isFinished && operation.threads.entries.isEmpty)
    }

    @Test(
        "one that starts itself unlocks its dependents in queues, started by a queue's operation",
        .contract("F8", "B17"))
    func asksAlongAChain() {
        let queue = makeQueue(limit: 1)
        let first = MainOperation()
        var last: Operation = first
        let evaluators = (0..<20).map { _ in
            let evaluator = SelfStartingOperation()
            evaluator.addDependency(last)
            last = evaluator
            return evaluator
        }
        let dependent = MainOperation()
        dependent.addDependency(last)
        queue.addOperations([dependent, first], waitUntilFinished: false)
        drains(queue)
        #expect(dependent.isFinished && evaluators.allSatisfy { $0.threads.entries.count == 1 })
    }

    @Test("several that ask at once start it once", .contract("F8"))
    func askedAtOnce() {
        let rounds = Scale.of(2_000)
        let operations = (0..<rounds).map { _ in SelfStartingOperation() }
        let dependencies = operations.map { operation in
            let pair = (MainOperation(), MainOperation())
            operation.addDependency(pair.0)
            operation.addDependency(pair.1)
            return pair
        }
        let steps = Lockstep(threads: 2)
        onThreads(2) { thread in
            for (index, operation) in operations.enumerated() {
                // The two meet at every operation.
                steps.take(index)
                if thread == 0 { dependencies[index].0.start() } else { dependencies[index].1.start() }
                operation.didChangeValue(forKey: "isReady")
            }
        }
        for operation in operations { finishes(operation) }
        #expect(operations.allSatisfy { $0.threads.entries.count == 1 })
    }

    @Test("announcements racing with the adding are not lost", .contract("F3"))
    func announcedWhileAdded() {
        let queue = makeQueue()
        let operations = (0..<Scale.of(2_000)).map { _ in HeldOperation() }
        onThreads(2) { thread in
            for operation in operations {
                if thread == 0 { queue.addOperation(operation) } else { operation.allow() }
            }
        }
        drains(queue)
        #expect(operations.allSatisfy { $0.runs.value == 1 })
    }

    @Test("an announcement that meets another one, or the finish of a dependency, is not lost", .contract("F3", "F5"))
    func announcementsMeet() {
        let queue = makeQueue()
        #if ORACLE
            // Foundation looks at every waiting operation each time.
            let count = 300
        #else
            let count = Scale.of(6_000)
        #endif
        let dependencies = (0..<count).map { _ in MainOperation() }
        let operations = dependencies.map { dependency in
            let operation = HeldOperation()
            operation.addDependency(dependency)
            return operation
        }
        queue.addOperations(operations, waitUntilFinished: false)
        let steps = Lockstep(threads: 2)
        onThreads(2) { thread in
            for (index, operation) in operations.enumerated() {
                // The two meet at every operation.
                steps.take(index)
                if thread == 0 {
                    operation.announce()
                    dependencies[index].start()
                } else {
                    operation.allow()
                }
            }
        }
        drains(queue)
        #expect(operations.allSatisfy { $0.runs.value == 1 })
    }
}

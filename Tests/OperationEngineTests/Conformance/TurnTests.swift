import OperationEngine
import TestSupport
import Testing

/// The order of turns among operations of one level, in a queue of limit 1.
@Suite("G6: turns", .blocking)
struct TurnTests {
    private let queue = makeQueue(limit: 1, suspended: true)
    private let log = Recorder<Int>()

    private func run() -> [Int] {
        queue.isSuspended = false
        drains(queue)
        return log.entries
    }

    @Test("what an operation adds goes before what its end makes ready", .contract("G6"))
    func addedBeforeMadeReady() {
        let (queue, log) = (queue, log)
        let first = MainOperation { _ in
            log.append(0)
            queue.addOperation { log.append(1) }
        }
        let dependent = MainOperation { _ in log.append(2) }
        dependent.addDependency(first)
        queue.addOperation(dependent)
        queue.addOperation(first)
        #expect(run() == [0, 1, 2])
    }

    @Test("the same where the dependent is in another queue", .contract("G6"))
    func addedElsewhereBeforeMadeReady() {
        let (queue, log) = (queue, log)
        let dependent = MainOperation { _ in log.append(2) }
        let first = MainOperation { _ in
            // Into the suspended queue, whose inbox nobody has looked into when this one ends.
            queue.addOperation { log.append(1) }
        }
        dependent.addDependency(first)
        queue.addOperation(dependent)
        let other = makeQueue()
        other.addOperation(first)
        drains(other)
        #expect(run() == [1, 2])
    }

    @Test("one that loses its readiness and gets it back goes to the back", .contract("G6"), arguments: [true, false])
    func lostAndRegained(isListed: Bool) {
        let operations = numbered(3, into: log)
        for operation in operations { queue.addOperation(operation) }
        // A listing makes the queue look at what was added.
        if isListed { #expect(queue.operations.count == 3) }
        let dependency = MainOperation()
        operations[0].addDependency(dependency)
        operations[0].removeDependency(dependency)
        #expect(run() == [1, 2, 0])
    }

    @Test("a finished dependency does not cost a ready operation its turn", .contract("E10", "G6"))
    func finishedDependencyAdded() {
        let operations = numbered(3, into: log)
        for operation in operations { queue.addOperation(operation) }
        let dependency = MainOperation()
        dependency.start()
        operations[0].addDependency(dependency)
        #expect(operations[0].isReady && areSame(operations[0].dependencies, [dependency]))
        #expect(run() == [0, 1, 2])
    }

    /// Numbered operations that take turns at the normal thread priority and a lower one.
    private func ofTwoBands(_ count: Int) -> [Operation] {
        let operations = numbered(count, into: log)
        for (index, operation) in operations.enumerated() where index.isMultiple(of: 2) {
            operation.threadPriority = 0.25
        }
        return operations
    }

    @Test(
        "the order of becoming ready counts, whatever the thread priorities", .contract("G6", "H6"),
        arguments: [false, true])
    func becameReadyInTwoBands(isBehindBarrier: Bool) {
        let operations = ofTwoBands(6)
        if isBehindBarrier { queue.addBarrierBlock {} }
        let gates = operations.map { operation in
            let gate = Operation()
            operation.addDependency(gate)
            queue.addOperation(operation)
            return gate
        }
        let order = [3, 0, 5, 4, 1, 2]
        for index in order { gates[index].start() }
        #expect(run() == order)
    }

    @Test(
        "one whose priority is changed and changed back goes to the back, whatever its thread priority",
        .contract("G10", "H6"))
    func refiledInTwoBands() {
        let operations = ofTwoBands(4)
        queue.addOperations(operations, waitUntilFinished: false)
        operations[1].queuePriority = .high
        operations[1].queuePriority = .normal
        operations[0].threadPriority = 0.5
        #expect(run() == [2, 3, 1, 0])
    }

    @Test(
        "those added before the limit is set keep the order of adding, whatever their thread priorities",
        .contract("G5", "N6", "H6"))
    func limitedLater() {
        queue.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
        queue.addOperations(ofTwoBands(6), waitUntilFinished: false)
        #expect(queue.operations.count == 6)
        queue.maxConcurrentOperationCount = 1
        #expect(run() == [0, 1, 2, 3, 4, 5])
    }
}

import OperationEngine
import TestSupport
import Testing

/// Whose turn it is among operations of one level, in a queue of limit 1.
@Suite("G6: turns", .blocking)
struct TurnTests {
    private let queue = makeQueue(limit: 1, suspended: true)
    private let log = Recorder<Int>()

    private func run() -> [Int] {
        queue.isSuspended = false
        drains(queue)
        return log.entries
    }

    @Test("G6: what an operation adds goes before what its end makes ready")
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

    @Test("G6: the same where the dependent is in another queue")
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

    @Test("G6: one that loses its readiness and gets it back goes to the back", arguments: [true, false])
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

    @Test("E10 G6: a finished dependency does not cost a ready operation its turn")
    func finishedDependencyAdded() {
        let operations = numbered(3, into: log)
        for operation in operations { queue.addOperation(operation) }
        let dependency = MainOperation()
        dependency.start()
        operations[0].addDependency(dependency)
        #expect(operations[0].isReady && areSame(operations[0].dependencies, [dependency]))
        #expect(run() == [0, 1, 2])
    }
}

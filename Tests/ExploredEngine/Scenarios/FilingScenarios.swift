import Interleaving

/// From the inbox to the ready list and back: adding, cancelling, priorities, readiness and an end of one's own.
let filingScenarios: [Scenario] = [
    Scenario("add-cancel-priority", "J5, G10: an operation that changes while it is added leaves the queue, finished") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        let operation = BlockOperation { log.add("main") }
        operation.completionBlock = { log.add("completion") }
        exploration.run(
            { queue.addOperation(operation) }, { operation.cancel() }, { operation.queuePriority = .high })
        exploration.settle()
        exploration.check(log.count("main") <= 1, "E24: has run twice")
        exploration.checkOnce(log, "completion", "I1")
        exploration.checkEmpty(queue, "J5")
    },
    Scenario(
        "cancelled-as-it-is-added", "J9: one that is cancelled on its way into a queue needs no slot to leave it",
        processors: 2
    ) { exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        let gate = Gate()
        queue.addOperation(BlockOperation { gate.wait() })
        exploration.settle()
        let operation = BlockOperation { log.add("main") }
        exploration.run({ queue.addOperation(operation) }, { operation.cancel() })
        exploration.settle()
        exploration.check(operation.isFinished && log.entries.isEmpty, "J9: finished \(operation.isFinished)")
        gate.open()
        exploration.settle()
        exploration.checkEmpty(queue, "J9")
    },
    Scenario("resume-cancel-priority", "J7, G10: the same for one that waits in a suspended queue") { exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation = BlockOperation { log.add("main") }
        let other = BlockOperation { log.add("other") }
        queue.addOperation(operation)
        queue.addOperation(other)
        exploration.run(
            { queue.isSuspended = false }, { operation.cancel() }, { operation.queuePriority = .veryHigh })
        exploration.settle()
        exploration.check(log.count("main") <= 1, "E24: has run twice")
        exploration.checkOnce(log, "other", "N10")
        exploration.checkEmpty(queue, "J5")
    },
    Scenario(
        "cancelled-together", "J8, O1: cancelled ones that end in one step release who depends on them, and who waits",
        processors: 2
    ) { exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        queue.isSuspended = true
        let operations = ["first", "second", "third"].map { name in BlockOperation { log.add(name) } }
        for operation in operations { queue.addOperation(operation) }
        queue.cancelAllOperations()
        let other = OperationQueue()
        exploration.run(
            { queue.isSuspended = false },
            {
                let dependent = BlockOperation { log.add("dependent") }
                dependent.addDependency(operations[1])
                other.addOperation(dependent)
            }, { operations[2].waitUntilFinished() })
        exploration.settle()
        exploration.check(log.entries == ["dependent"], "J8: \(log.entries)")
        exploration.check(operations.allSatisfy(\.isFinished), "J9: not finished")
        exploration.checkEmpty(queue, "J9")
        exploration.checkEmpty(other, "J8")
    },
    Scenario("readiness-announced-while-added", "F3: an announcement is not lost on the way into the queue") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        let operation = HeldBack { log.add("main") }
        exploration.run({ queue.addOperation(operation) }, { operation.release() })
        exploration.settle()
        exploration.checkOnce(log, "main", "F3")
        exploration.checkEmpty(queue, "F3")
    },
    Scenario("readiness-goes-and-comes", "F5, F7: nor while the answer changes; it runs while the answer is yes") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        let operation = HeldBack { log.add("main") }
        queue.addOperation(operation)
        exploration.run(
            { operation.release() },
            {
                operation.holdBack()
                operation.release()
            })
        exploration.settle()
        exploration.checkOnce(log, "main", "F5")
        exploration.checkEmpty(queue, "F5")
    },
    Scenario("finish-from-outside", "C2, C6, C12: an asynchronous operation gives its slot back once") { exploration in
        exploration.warmUp()
        Misuse.handler = { _ in }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let log = Log()
        let operation = Asynchronous()
        exploration.run(
            {
                queue.addOperation(operation)
                queue.addOperation { log.add("next") }
            },
            { operation.end() })
        exploration.settle()
        exploration.check(operation.state.load().isFinished, "C2: not finished")
        exploration.checkOnce(log, "next", "C6")
        exploration.checkEmpty(queue, "C11")
    },
    Scenario(
        "finish-from-outside-and-go", "C9, Q1: one that ends on its way into the queue is not touched after it is gone"
    ) {
        exploration in
        exploration.warmUp()
        Misuse.handler = { _ in }
        let queue = OperationQueue()
        let log = Log()
        let operation = Shared<Asynchronous?>(Asynchronous())
        weak let remains = operation.value
        exploration.run(
            {
                if let operation = operation.value { queue.addOperation(operation) }
                queue.addOperation { log.add("next") }
            },
            {
                operation.value?.end()
                operation.value = nil
            })
        exploration.settle()
        exploration.check(remains == nil, "Q1: still retained")
        exploration.checkOnce(log, "next", "C6")
        exploration.checkEmpty(queue, "C9")
    },
    Scenario("finish-twice-from-outside", "C11: two announcements, one end") { exploration in
        exploration.warmUp()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let log = Log()
        let operation = Asynchronous()
        operation.completionBlock = { log.add("completion") }
        queue.addOperation(operation)
        exploration.settle()
        exploration.run({ operation.end() }, { operation.end() }, { queue.addOperation { log.add("next") } })
        exploration.settle()
        exploration.checkOnce(log, "completion", "C11")
        exploration.checkOnce(log, "next", "C11")
        exploration.checkEmpty(queue, "C11")
    },
    Scenario("end-while-readiness-is-asked", "C9, F5: an operation with both of its own ends once and leaves") {
        exploration in
        exploration.warmUp()
        Misuse.handler = { _ in }
        let queue = OperationQueue()
        let operation = HeldBackAsynchronous()
        queue.addOperation(operation)
        exploration.run({ operation.release() }, { operation.end() })
        exploration.settle()
        exploration.check(operation.state.load().isFinished, "C9: not finished")
        exploration.checkEmpty(queue, "C9")
    },
]

/// Overrides `isReady` and says when it may go.
private final class HeldBack: Operation, @unchecked Sendable {
    private let mayGo = Atomic<Bool>(false)
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    override var isReady: Bool { super.isReady && mayGo.load(ordering: .acquiring) }
    override func main() { body() }

    func release() { set(true) }
    func holdBack() { set(false) }

    private func set(_ value: Bool) {
        willChangeValue(forKey: "isReady")
        mayGo.store(value, ordering: .releasing)
        didChangeValue(forKey: "isReady")
    }
}

/// Overrides `start` and executes until a caller ends it.
private class Asynchronous: Operation, @unchecked Sendable {
    private let hasEnded = Atomic<Bool>(false)

    override var isFinished: Bool { hasEnded.load(ordering: .acquiring) }
    override var isAsynchronous: Bool { true }
    override func start() {}

    func end() {
        willChangeValue(forKey: "isFinished")
        hasEnded.store(true, ordering: .releasing)
        didChangeValue(forKey: "isFinished")
    }
}

private final class HeldBackAsynchronous: Asynchronous, @unchecked Sendable {
    private let mayGo = Atomic<Bool>(false)

    override var isReady: Bool { super.isReady && mayGo.load(ordering: .acquiring) }

    func release() {
        willChangeValue(forKey: "isReady")
        mayGo.store(true, ordering: .releasing)
        didChangeValue(forKey: "isReady")
    }
}

import OperationEngine
import TestSupport
import Testing

/// Something happens between the moment at which `isReady` looks and the moment at which it answers.
private final class SlowToAnswer: Operation, @unchecked Sendable {
    let runs = Counter()
    private let allowed: Guarded<Bool>
    private let meanwhile = Guarded<(@Sendable (SlowToAnswer) -> Void)?>(nil)

    init(isAllowed: Bool) {
        allowed = Guarded(isAllowed)
        super.init()
    }

    /// Sets what happens during the next question.
    func duringNextQuestion(_ body: @escaping @Sendable (SlowToAnswer) -> Void) { meanwhile.withLock { $0 = body } }

    override var isReady: Bool {
        let answer = allowed.read() && super.isReady
        let body = meanwhile.withLock { body in
            defer { body = nil }
            return body
        }
        if let body {
            onThreads(1) { [self] _ in body(self) }
        }
        return answer
    }

    override func main() { runs.add() }

    func allow(_ isAllowed: Bool, announcements: Int = 1) {
        allowed.withLock { $0 = isAllowed }
        for _ in 0..<announcements { didChangeValue(for: \.isReady) }
    }
}

@Suite("F: readiness of one's own, the engine's own lines", .blocking)
struct ReadinessTests {
    @Test("the change is announced in any spelling", .contract("F1", "F3"), arguments: Spelling.allCases, [1, -1])
    func spellings(spelling: Spelling, limit: Int) {
        final class Switched: Operation, @unchecked Sendable {
            let isOn = Guarded(false)
            override var isReady: Bool { isOn.read() && super.isReady }
        }
        let queue = makeQueue(limit: limit)
        let operations = (0..<20).map { _ in Switched() }
        queue.addOperations(operations, waitUntilFinished: false)
        queue.addOperation {}
        settle()
        #expect(operations.allSatisfy { !$0.isFinished })
        for operation in operations {
            operation.isOn.withLock { $0 = true }
            switch spelling {
            case .key: operation.didChangeValue(forKey: "isReady")
            case .shortKey: operation.didChangeValue(forKey: "ready")
            case .keyPath: operation.didChangeValue(for: \.isReady)
            }
        }
        drains(queue)
    }

    @Test(
        "announced while the queue gets the answer no: it asks again", .contract("F3", "F5"),
        arguments: [1, 2, 255, 256, 257, 512, 65_536])
    func staleNo(announcements: Int) {
        let operation = SlowToAnswer(isAllowed: false)
        operation.duringNextQuestion { $0.allow(true, announcements: announcements) }
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(operation.runs.value == 1)
    }

    @Test(
        "the same for a queue that had chosen it already", .contract("F3", "F5", "F7"),
        arguments: [1, 2, 255, 256, 257, 512, 65_536])
    func staleNoWhenChosen(announcements: Int) {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let operation = SlowToAnswer(isAllowed: true)
        queue.addOperation(operation)
        operation.allow(false)
        operation.duringNextQuestion { $0.allow(true, announcements: announcements) }
        blocker.release.open()
        drains(queue)
        #expect(operation.runs.value == 1)
    }

    @Test(
        "closed while a queue that has no slot gets the answer yes: it does not start", .contract("F5", "F7"),
        arguments: [1, 256])
    func staleYes(announcements: Int) {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let operation = SlowToAnswer(isAllowed: true)
        operation.duringNextQuestion { $0.allow(false, announcements: announcements) }
        queue.addOperation(operation)
        let last = MainOperation()
        queue.addOperation(last)
        blocker.release.open()
        finishes(last)
        #expect(operation.runs.value == 0 && !operation.isFinished)
        operation.allow(true)
        drains(queue)
        #expect(operation.runs.value == 1)
    }

    @Test("closed in a suspended queue, it does not start on resuming, and takes no slot", .contract("F7"))
    func closedWhileSuspended() {
        let queue = makeQueue(limit: 1, suspended: true)
        let operations = (0..<10).map { _ in HeldOperation() }
        for operation in operations { operation.allow() }
        queue.addOperations(operations, waitUntilFinished: false)
        for operation in operations { operation.allow(false) }
        let others = Counter()
        for _ in 0..<10 { queue.addOperation { others.add() } }
        queue.isSuspended = false
        others.wait(for: 10)
        #expect(operations.allSatisfy { $0.runs.value == 0 && !$0.isFinished })
        for operation in operations { operation.allow() }
        drains(queue)
        #expect(operations.allSatisfy { $0.runs.value == 1 })
    }

    @Test("a change that is not announced may go unnoticed; announced later, it starts once", .contract("F4"))
    func unannounced() {
        let operation = SlowToAnswer(isAllowed: false)
        let queue = makeQueue(limit: 1)
        queue.addOperation(operation)
        operation.allow(true, announcements: 0)
        settle()
        #expect(operation.runs.value <= 1)
        operation.allow(true)
        drains(queue)
        #expect(operation.runs.value == 1)
    }

    @Test(
        "cancelled but held, it waits and takes no slot; a cancelled dependent does not wait for it", .contract("F6"),
        arguments: [1, -1])
    func cancelledButHeld(limit: Int) {
        let runs = Counter()
        let queue = makeQueue(limit: limit)
        let operation = HeldOperation()
        operation.addDependency(MainOperation())
        let dependent = MainOperation { _ in runs.add() }
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        queue.cancelAllOperations()
        finishes(dependent)
        let others = Counter()
        for _ in 0..<20 { queue.addOperation { others.add() } }
        others.wait(for: 20)
        #expect(!operation.isFinished && operation.isCancelled)
        operation.allow()
        drains(queue)
        #expect(operation.isFinished && operation.runs.value == 0 && runs.value == 0)
    }

    @Test(
        "one that was ready, and is closed and cancelled in a full queue, waits until it is allowed",
        .contract("F6", "F7"))
    func closedAndCancelled() {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let operation = HeldOperation()
        operation.allow()
        queue.addOperation(operation)
        operation.allow(false)
        operation.cancel()
        settle()
        #expect(!operation.isFinished)
        blocker.release.open()
        finishes(blocker.operation)
        settle()
        #expect(!operation.isFinished)
        operation.allow()
        drains(queue)
        #expect(operation.isFinished && operation.runs.value == 0)
    }

    @Test(
        "dependencies that are added and removed count, with the operation held or not", .contract("F2"),
        arguments: [true, false])
    func dependenciesChange(isAllowedFirst: Bool) {
        let queue = makeQueue()
        let operation = HeldOperation()
        let dependencies = (0..<3).map { _ in MainOperation() }
        operation.addDependency(dependencies[0])
        queue.addOperation(operation)
        operation.addDependency(dependencies[1])
        operation.addDependency(dependencies[2])
        if isAllowedFirst { operation.allow() }
        operation.removeDependency(dependencies[1])
        dependencies[0].start()
        settle()
        #expect(operation.runs.value == 0 && !operation.isReady)
        operation.removeDependency(dependencies[2])
        if !isAllowedFirst { operation.allow() }
        drains(queue)
        #expect(operation.runs.value == 1 && dependencies[1].isReady)
    }

    @Test("by hand too, the override decides", .contract("F1", "F2", "B12"))
    func byHand() async {
        let held = HeldOperation()
        #expect(!held.performIfReady() && !held.isFinished)
        let bypassing = HeldOperation(obeysDependencies: false)
        bypassing.addDependency(MainOperation())
        bypassing.allow()
        bypassing.start()
        #expect(bypassing.isFinished && bypassing.runs.value == 1)
        await #expect(processExitsWith: .success) {
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            let held = HeldOperation()
            held.start()
            #expect(reports.entries == [.startNotReady] && held.runs.value == 0)
        }
    }

    @Test("an override is found in subclasses of subclasses and in generic ones", .contract("F1", "F5"))
    func overrideIsFound() {
        class Held: Operation, @unchecked Sendable {
            let isOn = Guarded(false)
            override var isReady: Bool { isOn.read() && super.isReady }
        }
        class Below: Held, @unchecked Sendable {}
        final class Generic<Value>: Below, @unchecked Sendable {
            var value: Value?
        }
        let queue = makeQueue()
        let operations = [Held(), Below(), Generic<Int>(), Generic<[String]>()]
        queue.addOperations(operations, waitUntilFinished: false)
        settle()
        for operation in operations {
            #expect(!operation.isFinished, "\(operation)")
            operation.isOn.withLock { $0 = true }
            operation.didChangeValue(for: \.isReady)
        }
        drains(queue)
    }

    @Test(
        "thousands opened, closed and opened again while a queue chooses", .contract("F3", "F5", "F7"),
        arguments: [1, 3, -1])
    func storm(limit: Int) {
        let queue = makeQueue(limit: limit)
        let operations = (0..<Scale.of(4_000)).map { _ in HeldOperation() }
        queue.addOperations(operations, waitUntilFinished: false)
        onThreads(3) { thread in
            for operation in operations {
                if thread < 2 {
                    operation.allow()
                    operation.announce()
                } else {
                    operation.allow(false)
                    operation.announce()
                    operation.allow()
                }
            }
        }
        drains(queue)
        #expect(operations.allSatisfy { $0.runs.value == 1 })
    }

    @Test("announcing, cancelling and finishing dependencies all at once", .contract("F2", "F6"))
    func everythingAtOnce() {
        let queue = makeQueue(limit: 2)
        let dependencies = (0..<Scale.of(2_000)).map { _ in MainOperation() }
        let operations = dependencies.map { dependency in
            let operation = HeldOperation()
            operation.addDependency(dependency)
            return operation
        }
        onThreads(4) { thread in
            for (index, operation) in operations.enumerated() {
                switch thread {
                case 0: queue.addOperation(operation)
                case 1: operation.allow()
                case 2: dependencies[index].start()
                default: if index % 3 == 0 { operation.cancel() } else { operation.queuePriority = .high }
                }
            }
        }
        drains(queue)
        #expect(operations.allSatisfy { $0.isFinished && ($0.isCancelled || $0.runs.value == 1) })
    }
}

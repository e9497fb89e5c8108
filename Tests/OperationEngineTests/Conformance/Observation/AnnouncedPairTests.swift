import OperationEngine
import TestSupport
import Testing

@Suite("D: what a subclass announces by itself", .blocking)
struct AnnouncedPairTests {
    @Test("a pair written by hand reaches observers, with values from the overridden getters", .contract("D22"))
    func manualPairs() {
        let operation = AsynchronousOperation()
        let heard = Recorder<String>()
        let keys: [(String, KeyPath<Operation, Bool>)] = [("executing", \.isExecuting), ("finished", \.isFinished)]
        let tokens = keys.map { name, key in
            operation.observe(key, options: [.new, .old, .prior]) { _, change in
                let values = [change.oldValue, change.newValue].map { $0.map { $0 ? "1" : "0" } ?? "-" }
                heard.append("\(name) \(change.isPrior ? "will " : "")\(values.joined())")
            }
        }
        operation.start()
        #expect(heard.entries == ["executing will 0-", "executing 01"])
        operation.willChangeValue(for: \.isFinished)
        operation.willChangeValue(for: \.isExecuting)
        operation.endSilently()
        operation.didChangeValue(for: \.isExecuting)
        operation.didChangeValue(for: \.isFinished)
        #expect(
            Array(heard.entries.dropFirst(2)) == [
                "finished will 0-", "executing will 1-", "executing 10", "finished 01",
            ])
        withExtendedLifetime(tokens) {}
    }

    @Test("so does one of an overridden readiness, and the operation then runs", .contract("D22"))
    func manualReadiness() {
        final class Late: Operation, @unchecked Sendable {
            private let flag = Guarded(false)
            override var isReady: Bool { flag.read() && super.isReady }
            func becomeReady() {
                willChangeValue(for: \.isReady)
                flag.withLock { $0 = true }
                didChangeValue(for: \.isReady)
            }
        }
        let operation = Late()
        let log = ChangeLog()
        log.watch(operation)
        let old = Recorder<Bool?>()
        let token = operation.observe(\.isReady, options: .old) { _, change in old.append(change.oldValue) }
        let queue = makeQueue()
        queue.addOperation(operation)
        operation.becomeReady()
        drains(queue)
        #expect(log.entries == ["ready=1", "executing=1", "executing=0", "finished=1"])
        #expect(old.entries == [false])
        withExtendedLifetime(token) {}
    }

    @Test("one thread may announce that a property changes, and another one that it has", .contract("D22", "C12"))
    func pairOfTwoThreads() {
        let operation = MainOperation()
        let heard = Recorder<Int?>()
        let token = operation.observe(\.dependencies, options: .old) { heard.append($1.oldValue?.count) }
        weak var dropped: Operation?
        do {
            let dependency = MainOperation()
            dropped = dependency
            operation.addDependency(dependency)
            for _ in 0..<3 {
                onThreads(1) { _ in operation.willChangeValue(for: \.dependencies) }
                operation.didChangeValue(for: \.dependencies)
            }
            operation.removeDependency(dependency)
            #expect(heard.entries == [0, 1, 1, 1, 1])
        }
        #expect(dropped == nil, "nothing of a change that was announced is kept")
        withExtendedLifetime((token, operation)) {}
    }

    @Test("nested pairs of one property have their own old values", .contract("D22"))
    func nestedPairs() {
        let operation = MainOperation()
        let heard = Recorder<Operation.QueuePriority?>()
        let token = operation.observe(\.queuePriority, options: .old) { _, change in heard.append(change.oldValue) }
        operation.willChangeValue(for: \.queuePriority)
        operation.queuePriority = .low
        onThreads(1) { _ in operation.willChangeValue(for: \.queuePriority) }
        operation.queuePriority = .high
        operation.didChangeValue(for: \.queuePriority)
        operation.didChangeValue(for: \.queuePriority)
        #expect(heard.entries == [.normal, .low, .low, .normal])
        withExtendedLifetime(token) {}
    }

    @Test("an announcement takes no old value from a change that the engine is making", .contract("D22", "D4"))
    func pairWithinEnginesChange() {
        let operation = MainOperation()
        let heard = Recorder<Operation.QueuePriority?>()
        let token = operation.observe(\.queuePriority, options: [.old, .prior]) { operation, change in
            if change.isPrior {
                onThreads(1) { _ in operation.didChangeValue(for: \.queuePriority) }
            } else {
                heard.append(change.oldValue)
            }
        }
        operation.queuePriority = .high
        #expect(heard.entries == [nil, .normal])
        withExtendedLifetime(token) {}
    }

    @Test("announcements that no change follows keep a bounded number of old values", .contract("D22", "Q7"))
    func missingSecondHalves() {
        let (operation, freed) = (MainOperation(), Counter())
        let token = operation.observe(\.dependencies, options: .old) { _, _ in }
        for _ in 0..<100 {
            let dependency = CountedOperation(freed: freed)
            operation.addDependency(dependency)
            operation.willChangeValue(for: \.dependencies)
            operation.removeDependency(dependency)
        }
        #expect(freed.value > 80)
        withExtendedLifetime((token, operation)) {}
    }
}

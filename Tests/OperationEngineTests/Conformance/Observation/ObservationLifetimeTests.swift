import OperationEngine
import Synchronization
import TestSupport
import Testing

@Suite("D: observers that come and go", .blocking)
struct ObservationLifetimeTests {
    // MARK: D19

    @Test("an observer added in a callback hears of what follows", .contract("D19"))
    func addInCallback() {
        let operation = MainOperation()
        let log = Recorder<String>()
        let inner = Guarded<Observation?>(nil)
        let outer = operation.observe(\.isExecuting, options: .new) { operation, change in
            guard change.newValue == true else { return }
            let token = operation.observe(\.isFinished) { _, _ in log.append("finished") }
            inner.withLock { $0 = token }
        }
        operation.start()
        #expect(log.entries == ["finished"])
        withExtendedLifetime((outer, inner)) {}
    }

    @Test(
        "an observer removed in another's callback is not called any more, not even for the same change",
        .contract("D19"))
    func removeOtherInCallback() {
        let operation = MainOperation()
        let heard = Counter()
        let later = Guarded<Observation?>(nil)
        let first = operation.observe(\.isExecuting) { _, _ in later.read()?.invalidate() }
        later.withLock { $0 = operation.observe(\.isExecuting) { _, _ in heard.add() } }
        operation.start()
        #expect(heard.value == 0)
        withExtendedLifetime((first, later)) {}
    }

    @Test("an observer may remove itself in its callback", .contract("D19"))
    func removeItselfInCallback() {
        let operation = MainOperation()
        let heard = Counter()
        let own = Guarded<Observation?>(nil)
        let token = operation.observe(\.isExecuting, options: .prior) { _, _ in
            heard.add()
            own.read()?.invalidate()
        }
        own.withLock { $0 = token }
        operation.start()
        #expect(heard.value == 1)
        own.withLock { $0 = nil }
    }

    @Test("one removed on another thread is not notified of a change that is being announced", .contract("D19"))
    func removeDuringDelivery() {
        let operation = MainOperation()
        let (inFirst, removed) = (Gate("the first observer is called"), Gate("the second one is removed"))
        let heard = Counter()
        let first = operation.observe(\.isCancelled) { _, _ in
            inFirst.open()
            removed.wait()
        }
        let second = operation.observe(\.isCancelled) { _, _ in heard.add() }
        onThreads(2) { thread in
            if thread == 0 {
                operation.cancel()
            } else {
                inFirst.wait()
                second.invalidate()
                removed.open()
            }
        }
        #expect(heard.value == 0)
        withExtendedLifetime(first) {}
    }

    @Test(
        "the remaining observers are notified in the order of their coming, whichever have left", .contract("D19"),
        arguments: 1...8)
    func orderAfterRemovals(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let operation = MainOperation()
        let heard = Recorder<Int>()
        var tokens: [(number: Int, token: Observation)] = []
        for number in 0..<200 {
            tokens.append((number, operation.observe(\.queuePriority) { _, _ in heard.append(number) }))
            if Int.random(in: 0..<5, using: &random) < 2 {
                let left = tokens.remove(at: Int.random(in: 0..<tokens.count, using: &random))
                left.token.invalidate()
                left.token.invalidate()
            }
            if number % 20 == 7 {
                let before = heard.entries.count
                operation.queuePriority = operation.queuePriority == .low ? .high : .low
                #expect(Array(heard.entries[before...]) == tokens.map(\.number))
            }
        }
    }

    /// So many that the test hangs where one costs in proportion to the others.
    @Test(
        "100,000 observers of one object come and go, in any order, in and out of callbacks", .contract("D19", "D24"),
        arguments: Leaving.allCases, [true, false])
    func manyObservers(leaving: Leaving, isQueue: Bool) {
        let count = Scale.of(100_000)
        let (operation, queue) = (MainOperation(), makeQueue())
        let heard = Counter()
        let tokens = Guarded<[Observation?]>([])
        let hear: @Sendable (Int) -> Void = { index in
            heard.add()
            if leaving == .inCallback { tokens.read()[index]?.invalidate() }
        }
        weak var held: Counter?
        do {
            let captured = Counter()
            held = captured
            for index in 0..<count {
                let token =
                    isQueue
                    ? queue.observe(\.name) { [captured] _, _ in withExtendedLifetime(captured) { hear(index) } }
                    : operation.observe(\.queuePriority) { [captured] _, _ in
                        withExtendedLifetime(captured) { hear(index) }
                    }
                tokens.withLock { $0.append(token) }
            }
        }
        if isQueue { queue.name = "observed" } else { operation.queuePriority = .high }
        #expect(heard.value == count)
        tokens.withLock { tokens in
            var random = SeededGenerator(seed: 1)
            if leaving == .inDisorder { tokens.shuffle(using: &random) }
            if leaving == .latestFirst { tokens.reverse() }
            for index in tokens.indices { tokens[index] = nil }
        }
        if isQueue { queue.name = "unobserved" } else { operation.queuePriority = .low }
        #expect(heard.value == count)
        #expect(held == nil, "a handler is left")
    }

    enum Leaving: CaseIterable, Sendable {
        case earliestFirst, latestFirst, inDisorder, inCallback
    }

    @Test("nothing is heard of a change that begins after the removal has returned", .contract("D19"))
    func removeAgainstChanges() {
        let violations = Counter()
        let changes = Scale.of(20_000)
        let operation = MainOperation()
        /// The number of the latest change that has begun.
        let begun = Atomic(0)
        let isOver = Atomic(false)
        onThreads(2) { thread in
            if thread == 0 {
                for change in 1...changes {
                    begun.store(change, ordering: .sequentiallyConsistent)
                    operation.queuePriority = change.isMultiple(of: 2) ? .high : .low
                }
                isOver.store(true, ordering: .releasing)
            } else {
                while !isOver.load(ordering: .acquiring) {
                    let last = LastChange()
                    let token = operation.observe(\.queuePriority) { _, _ in
                        // On the thread that makes the changes: the change of this call.
                        let change = begun.load(ordering: .sequentiallyConsistent)
                        if change > last.number.load(ordering: .sequentiallyConsistent) { violations.add() }
                    }
                    token.invalidate()
                    last.number.store(begun.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
                }
            }
        }
        #expect(violations.value == 0)
    }

    // MARK: D20

    @Test("a callback may call every getter, cancel, and what else there is", .contract("D20"), arguments: 0..<3)
    func anythingInCallbacks(cancelling: Int) {
        let queue = makeQueue(limit: 1)
        let (dependency, operation) = (MainOperation(), MainOperation())
        let calls = Counter()
        let keys = [\Operation.isReady, \Operation.isExecuting, \Operation.isFinished]
        let tokens = keys.enumerated().map { index, key in
            operation.observe(key, options: [.prior, .initial]) { operation, change in
                calls.add()
                _ = (operation.isReady, operation.isExecuting, operation.isFinished, operation.isCancelled)
                _ = (operation.dependencies, operation.queuePriority, operation.name, operation.description)
                _ = (operation.completionBlock == nil, operation.threadPriority, queue.operations, queue.isSuspended)
                operation.name = "observed"
                operation.queuePriority = .high
                if index == cancelling, change.isPrior {
                    dependency.cancel()
                    operation.cancel()
                }
            }
        }
        operation.addDependency(dependency)
        queue.addOperations([operation, dependency], waitUntilFinished: false)
        drains(queue)
        #expect(operation.isFinished && operation.isCancelled && dependency.isFinished)
        #expect(calls.value > keys.count)
        withExtendedLifetime(tokens) {}
    }

    @Test("callbacks of a run in a queue may cancel, add operations and change dependencies", .contract("D20"))
    func changesInCallbacks() {
        let queue = makeQueue(limit: 2)
        let added = Counter()
        let operations = (0..<Scale.of(300)).map { _ in MainOperation() }
        for (first, second) in zip(operations, operations.dropFirst()) { second.addDependency(first) }
        var tokens: [Observation] = []
        for operation in operations {
            tokens.append(
                operation.observe(\.isReady, options: .new) { operation, change in
                    guard change.newValue == true else { return }
                    for dependency in operation.dependencies { operation.removeDependency(dependency) }
                    queue.addOperation { added.add() }
                })
            tokens.append(operation.observe(\.isFinished) { operation, _ in operation.cancel() })
        }
        queue.addOperations(operations, waitUntilFinished: false)
        drains(queue)
        #expect(operations.allSatisfy { $0.isFinished && !$0.isCancelled })
        #expect(added.value == operations.count - 1)
        withExtendedLifetime(tokens) {}
    }

    @Test("callbacks of two operations that cancel each other do not deadlock", .contract("D20"))
    func mutualCancel() {
        for _ in 0..<Scale.of(500) {
            let (left, right) = (MainOperation(), MainOperation())
            let tokens = [
                left.observe(\.isCancelled) { [unowned right] _, _ in right.cancel() },
                right.observe(\.isCancelled) { [unowned left] _, _ in left.cancel() },
            ]
            completes("cancelling each other") {
                onThreads(2) { thread in (thread == 0 ? left : right).cancel() }
            }
            #expect(left.isCancelled && right.isCancelled)
            withExtendedLifetime(tokens) {}
        }
    }

    // MARK: D21

    @Test("without observers nothing is read for notifications", .contract("D21"), arguments: [false, true])
    func noWork(isOtherObserved: Bool) {
        let (dependency, operation) = (MainOperation(), GetterCounter())
        // That others are observed, the queue among them, makes no difference.
        let queue = makeQueue()
        var tokens: [Observation] = []
        if isOtherObserved {
            tokens.append(dependency.observe(\.isFinished) { _, _ in })
            tokens.append(queue.observe(\.isSuspended) { _, _ in })
        }
        let completed = Gate("the completion block runs")
        operation.addDependency(dependency)
        operation.queuePriority = .high
        operation.completionBlock = { completed.open() }
        queue.addOperations([operation, dependency], waitUntilFinished: false)
        completed.wait()
        let cancelled = GetterCounter()
        cancelled.addDependency(MainOperation())
        cancelled.cancel()
        cancelled.start()
        #expect(operation.reads.value == 0 && cancelled.reads.value == 0)
        withExtendedLifetime(tokens) {}
    }

    @Test("the observer of one property makes no work for the others, nor does one that has left", .contract("D21"))
    func littleWork() {
        let operation = GetterCounter()
        let token = operation.observe(\.isCancelled) { _, _ in }
        operation.observe(\.isExecuting) { _, _ in }.invalidate()
        let dependency = MainOperation()
        operation.addDependency(dependency)
        dependency.start()
        operation.removeDependency(dependency)
        operation.start()
        #expect(operation.reads.value == 0)
        withExtendedLifetime(token) {}
    }

    // MARK: D24

    @Test("an observation ends when its token is released, or invalidated", .contract("D24"))
    func tokens() {
        let operation = MainOperation()
        let heard = Recorder<String>()
        var released: Observation? = operation.observe(\.queuePriority) { _, _ in heard.append("released") }
        let invalidated = operation.observe(\.queuePriority) { _, _ in heard.append("invalidated") }
        let kept = operation.observe(\.queuePriority) { _, _ in heard.append("kept") }
        operation.queuePriority = .high
        #expect(heard.entries == ["released", "invalidated", "kept"])
        #expect(released != nil)
        released = nil
        invalidated.invalidate()
        invalidated.invalidate()
        operation.queuePriority = .low
        #expect(Array(heard.entries.dropFirst(3)) == ["kept"])
        withExtendedLifetime((kept, invalidated)) {}
    }

    @Test("what the handler holds is released with the token; the operation is not kept alive by it", .contract("D24"))
    func ownership() {
        let (handlers, operations) = (Counter(), Counter())
        var operation: CountedOperation? = CountedOperation(freed: operations)
        var token: Observation?
        do {
            let held = Token(released: handlers)
            token = operation?.observe(\.isFinished, options: [.initial, .new]) { _, _ in held.hold() }
        }
        #expect(handlers.value == 0 && token != nil)
        token = nil
        #expect(handlers.value == 1)
        token = operation?.observe(\.isFinished) { _, _ in }
        operation?.start()
        operation = nil
        #expect(operations.value == 1)
        // The operation is gone: nothing to end.
        token?.invalidate()
    }

    @Test("an old value is not kept once the observers have left", .contract("D17", "D24"))
    func oldValueReleased() {
        let blocks = Counter()
        let operation = MainOperation()
        do {
            let held = Token(released: blocks)
            operation.completionBlock = { held.hold() }
        }
        let own = Guarded<Observation?>(nil)
        let token = operation.observe(\.completionBlock, options: [.prior, .old]) { _, _ in own.read()?.invalidate() }
        own.withLock { $0 = token }
        operation.completionBlock = nil
        #expect(blocks.value == 1)
        own.withLock { $0 = nil }
    }
}

/// The last change that an observer may hear of: any, until it is removed.
private final class LastChange: Sendable {
    let number = Atomic(Int.max)
}

/// An operation that counts how often the getters are read that notifications read.
/// Leaves out `isFinished`, which the engine asks before an end counts (contract C14).
private final class GetterCounter: Operation, @unchecked Sendable {
    let reads = Counter()

    override var isExecuting: Bool { counting(super.isExecuting) }
    override var dependencies: [Operation] { counting(super.dependencies) }
    override var queuePriority: QueuePriority {
        get { counting(super.queuePriority) }
        set { super.queuePriority = newValue }
    }
    override var completionBlock: (@Sendable () -> Void)? {
        get { counting(super.completionBlock) }
        set { super.completionBlock = newValue }
    }

    private func counting<Value>(_ value: Value) -> Value {
        reads.add()
        return value
    }
}

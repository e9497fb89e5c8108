import Glibc
import OperationEngine
import Synchronization
import TestSupport
import Testing

@Suite("D: observers that come and go", .blocking)
struct ObservationRaceTests {
    // MARK: D18

    @Test("D18: registering while the operation runs: the end is heard of or found, never neither")
    func registerAgainstRun() {
        inStep(operations(10_000)) { operation in
            operation.start()
        } observing: { operation, heard in
            [
                operation.observe(\.isFinished, options: [.initial, .new]) { heard.note($1.newValue == true, 0) },
                operation.observe(\.isExecuting, options: [.initial, .new]) { heard.note($1.newValue == false, 1) },
            ]
        }
    }

    @Test("D18: registering while it is cancelled")
    func registerAgainstCancel() {
        let never = MainOperation()
        inStep(operations(10_000, dependingOn: never)) { operation in
            operation.cancel()
        } observing: { operation, heard in
            [
                operation.observe(\.isCancelled, options: [.initial, .new]) { heard.note($1.newValue == true, 0) },
                operation.observe(\.isReady, options: [.initial, .new]) { heard.note($1.newValue == true, 1) },
            ]
        }
    }

    @Test("D18: registering while its last dependency finishes")
    func registerAgainstDependency() {
        let all = operations(10_000)
        for operation in all { operation.addDependency(MainOperation()) }
        inStep(all) { operation in
            operation.dependencies[0].start()
        } observing: { operation, heard in
            [operation.observe(\.isReady, options: [.initial, .new]) { heard.note($1.newValue == true, 0) }]
        }
    }

    @Test("D18: registering while it gets a dependency, a priority and a completion block")
    func registerAgainstSetters() {
        let never = MainOperation()
        let all = operations(30_000)
        racing(all.count) { round in
            switch round % 3 {
            case 0: all[round].addDependency(never)
            case 1: all[round].queuePriority = .high
            default: all[round].completionBlock = {}
            }
        } observing: { round, heard in
            let operation = all[round]
            let options: ObservingOptions = [.initial, .new]
            return switch round % 6 {
            case 0: [operation.observe(\.dependencies, options: options) { heard.note($1.newValue == [never], 0) }]
            case 3: [operation.observe(\.isReady, options: options) { heard.note($1.newValue == false, 0) }]
            case 1, 4: [operation.observe(\.queuePriority, options: options) { heard.note($1.newValue == .high, 0) }]
            default:
                [operation.observe(\.completionBlock, options: options) { heard.note(($1.newValue ?? nil) != nil, 0) }]
            }
        }
    }

    // MARK: D19

    @Test("D19: an observer added in a callback hears of what follows")
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

    @Test("D19: an observer removed in another's callback is not called any more, not even for the same change")
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

    @Test("D19: an observer may remove itself in its callback")
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

    @Test("D19: one removed on another thread hears nothing of a change that is being told")
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

    @Test("D19: nothing is heard of a change that begins after the removal has returned")
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

    @Test("D19: observers come and go on several threads while the operation runs")
    func crowd() {
        for _ in 0..<Scale.of(500) {
            let operation = MainOperation()
            let heard = Counter()
            let stays = operation.observe(\.isFinished) { _, _ in heard.add() }
            onThreads(3) { thread in
                if thread == 0 { return operation.start() }
                for _ in 0..<20 {
                    let token = operation.observe(\.isFinished, options: [.initial, .prior, .old]) { _, _ in }
                    if thread == 1 { token.invalidate() }
                }
            }
            #expect(heard.value == 1)
            withExtendedLifetime(stays) {}
        }
    }

    // MARK: D20

    @Test("D20: a callback may call every getter, cancel, and what else there is", arguments: 0..<3)
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

    @Test("D20: callbacks of a run in a queue may cancel, add operations and change dependencies")
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

    @Test("D20: callbacks of two operations that cancel each other do not deadlock")
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

    @Test("D21: without observers nothing is read for notifications", arguments: [false, true])
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

    @Test("D21: the observer of one property makes no work for the others, nor does one that has left")
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

    @Test("D24: an observation ends when its token is released, or invalidated")
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

    @Test("D24: what the handler holds is released with the token; the operation is not kept alive by it")
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

    @Test("D17 D24: an old value is not kept once the observers have left")
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

    // MARK: Dying dependents

    @Test("D15 E21: observed dependents may die while their dependency finishes")
    func dyingDependents() {
        let (freed, wrong) = (Counter(), Counter())
        let rounds = Scale.of(3_000)
        for _ in 0..<rounds {
            let dependency = MainOperation()
            let dependents = Guarded((0..<6).map { _ in CountedOperation(freed: freed) })
            let tokens = Guarded<[Observation]>([])
            for dependent in dependents.read() {
                dependent.addDependency(dependency)
                let token = dependent.observe(\.isReady, options: [.new, .old]) { dependent, change in
                    if change.newValue != true || dependent.isFinished { wrong.add() }
                }
                tokens.withLock { $0.append(token) }
            }
            onThreads(2) { thread in
                if thread == 0 { return dependency.start() }
                // One by one, from the last: some go before the finisher reaches them, others in its hands.
                for _ in 0..<6 { dependents.withLock { $0.removeLast() } }
                tokens.withLock { $0 = [] }
            }
            #expect(dependency.isFinished)
        }
        eventually("all dependents are freed") { freed.value == 6 * rounds }
        #expect(wrong.value == 0)
    }

    @Test("D15 E21: the last reference to a dependent may go in its own callback")
    func dyingInCallback() {
        let freed = Counter()
        for _ in 0..<Scale.of(300) {
            let dependency = MainOperation()
            let owner = Guarded<CountedOperation?>(nil)
            var token: Observation?
            do {
                let dependent = CountedOperation(freed: freed)
                dependent.addDependency(dependency)
                token = dependent.observe(\.isReady) { _, _ in owner.withLock { _ = $0.take() } }
                owner.withLock { $0 = dependent }
            }
            dependency.start()
            withExtendedLifetime(token) {}
        }
        #expect(freed.value == Scale.of(300))
    }

    /// Operations for a race's rounds, each with a dependency if one is given.
    private func operations(_ count: Int, dependingOn dependency: MainOperation? = nil) -> [MainOperation] {
        (0..<Scale.of(count)).map { _ in
            let operation = MainOperation()
            if let dependency { operation.addDependency(dependency) }
            return operation
        }
    }

    /// On two threads in step, changes each operation and begins to observe it: what the observers note must have been
    /// seen in the end.
    private func inStep(
        _ operations: [MainOperation], changing change: @escaping @Sendable (MainOperation) -> Void,
        observing observe: @escaping @Sendable (MainOperation, Heard) -> [Observation]
    ) {
        racing(operations.count) {
            change(operations[$0])
        } observing: {
            observe(operations[$0], $1)
        }
    }
}

/// Which of an observation's conditions have been noted, as bits.
final class Heard: Sendable {
    private let bits = Atomic<UInt>(0)

    func note(_ isTrue: Bool, _ index: Int) {
        if isTrue { bits.bitwiseOr(1 << UInt(index), ordering: .relaxed) }
    }

    func isComplete(_ count: Int) -> Bool { bits.load(ordering: .relaxed) == (1 << UInt(count)) - 1 }
}

/// In each of the rounds, one thread makes a change while another begins to observe it; checks that each observer has
/// noted its condition, once both are done.
func racing(
    _ rounds: Int, _ change: @escaping @Sendable (Int) -> Void,
    observing observe: @escaping @Sendable (Int, Heard) -> [Observation],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let heard = (0..<rounds).map { _ in Heard() }
    let tokens = Guarded<[[Observation]]>([])
    let arrivals = Atomic(0)
    onThreads(2) { thread in
        var own: [[Observation]] = []
        var random = SeededGenerator(seed: UInt64(thread))
        for round in 0..<rounds {
            arrivals.add(1, ordering: .relaxed)
            while arrivals.load(ordering: .relaxed) < 2 * (round + 1) { sched_yield() }
            // To register takes longer than to change.
            for _ in 0..<random.next() % (thread == 0 ? 512 : 16) { _ = arrivals.load(ordering: .relaxed) }
            if thread == 0 { change(round) } else { own.append(observe(round, heard[round])) }
        }
        if thread == 1 { tokens.withLock { $0 = own } }
    }
    let missed = zip(heard, tokens.read()).filter { !$0.isComplete($1.count) }.count
    #expect(missed == 0, "of \(rounds) rounds", sourceLocation: sourceLocation)
}

/// The last change that an observer may hear of: any, until it is removed.
private final class LastChange: Sendable {
    let number = Atomic(Int.max)
}

/// An operation that counts how often the getters are read that notifications read.
private final class GetterCounter: Operation, @unchecked Sendable {
    let reads = Counter()

    override var isExecuting: Bool { counting(super.isExecuting) }
    override var isFinished: Bool { counting(super.isFinished) }
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

import Glibc
import OperationEngine
import Synchronization
import TestSupport
import Testing

@Suite("D: observation in races", .blocking)
struct ObservationRaceTests {
    @Test("registering while the operation runs: the end is heard of or found, never neither", .contract("D18"))
    func registerAgainstRun() {
        inStep(operations(5_000)) { operation in
            operation.start()
        } observing: { operation, heard in
            [
                operation.observe(\.isFinished, options: [.initial, .new]) { heard.note($1.newValue == true, 0) },
                operation.observe(\.isExecuting, options: [.initial, .new]) { heard.note($1.newValue == false, 1) },
            ]
        }
    }

    @Test("registering while it is cancelled", .contract("D18"))
    func registerAgainstCancel() {
        let never = MainOperation()
        inStep(operations(5_000, dependingOn: never)) { operation in
            operation.cancel()
        } observing: { operation, heard in
            [
                operation.observe(\.isCancelled, options: [.initial, .new]) { heard.note($1.newValue == true, 0) },
                operation.observe(\.isReady, options: [.initial, .new]) { heard.note($1.newValue == true, 1) },
            ]
        }
    }

    @Test("registering while its last dependency finishes", .contract("D18"))
    func registerAgainstDependency() {
        let all = operations(5_000)
        for operation in all { operation.addDependency(MainOperation()) }
        inStep(all) { operation in
            operation.dependencies[0].start()
        } observing: { operation, heard in
            [operation.observe(\.isReady, options: [.initial, .new]) { heard.note($1.newValue == true, 0) }]
        }
    }

    @Test("registering while it gets a dependency, a priority and a completion block", .contract("D18"))
    func registerAgainstSetters() {
        let never = MainOperation()
        let all = operations(9_000)
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

    // MARK: Dying dependents

    @Test("observed dependents may die while their dependency finishes", .contract("D15", "E21"))
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

    @Test("the last reference to a dependent may go in its own callback", .contract("D15", "E21"))
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
/// noted its condition, once both are done. On a machine with much else to do, where a round in step takes long, those
/// that fit into some seconds.
func racing(
    _ rounds: Int, _ change: @escaping @Sendable (Int) -> Void,
    observing observe: @escaping @Sendable (Int, Heard) -> [Observation],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let heard = (0..<rounds).map { _ in Heard() }
    let tokens = Guarded<[[Observation]]>([])
    let arrivals = Atomic(0)
    let end = Atomic(rounds)
    let deadline = ContinuousClock.now + .seconds(8)
    onThreads(2) { thread in
        var own: [[Observation]] = []
        var random = SeededGenerator(seed: UInt64(thread))
        for round in 0..<rounds {
            if thread == 0, round >= 500, ContinuousClock.now > deadline { end.store(round, ordering: .relaxed) }
            arrivals.add(1, ordering: .releasing)
            while arrivals.load(ordering: .acquiring) < 2 * (round + 1) { sched_yield() }
            if round == end.load(ordering: .relaxed) { break }
            // To register takes longer than to change.
            for _ in 0..<random.next() % (thread == 0 ? 512 : 16) { _ = arrivals.load(ordering: .relaxed) }
            if thread == 0 { change(round) } else { own.append(observe(round, heard[round])) }
        }
        if thread == 1 { tokens.withLock { $0 = own } }
    }
    let own = tokens.read()
    #expect(!own.isEmpty, sourceLocation: sourceLocation)
    let missed = zip(heard, own).filter { !$0.isComplete($1.count) }.count
    #expect(missed == 0, "of \(own.count) rounds", sourceLocation: sourceLocation)
}

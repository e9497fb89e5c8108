import Glibc
import OperationEngine
import Synchronization
import TestSupport
import Testing

@Suite("Stress: races of two", .blocking, .serialized)
struct RaceTests {
    @Test(
        "a dependency added while the last other one finishes: it blocks, or the operation has begun", .contract("E18"))
    func addDependencyAgainstLastFinish() {
        let queue = makeQueue()
        let wrong = Counter()
        let trios = (0..<Scale.of(10_000)).map { _ in LateTrio(wrong: wrong) }
        for trio in trios { queue.addOperation(trio.dependent) }
        let arrivals = Atomic(0)
        onThreads(2) { thread in
            for (index, trio) in trios.enumerated() {
                // In step, so that the two meet in every trio.
                arrivals.add(1, ordering: .relaxed)
                while arrivals.load(ordering: .relaxed) < 2 * (index + 1) { sched_yield() }
                if thread == 0 { trio.early.start() } else { trio.addLate() }
            }
        }
        for trio in trios { trio.late.start() }
        drains(queue)
        #expect(wrong.value == 0)
    }

    @Test("an operation added just as the queue runs empty is not lost", .contract("E25", "N3"), arguments: [1, 2])
    func addAgainstEmptying(limit: Int) {
        let seed = announcedSeed("adding to an emptying queue")
        var random = SeededGenerator(seed: seed)
        let queue = makeQueue(limit: limit)
        let runs = Atomic(0)
        let rounds = Scale.of(60_000)
        for round in 1...rounds {
            queue.addOperation { runs.add(1, ordering: .releasing) }
            var spins = 0
            while runs.load(ordering: .acquiring) < round, spins < 1_000 { spins += 1 }
            guard eventually("the operation of round \(round) runs", { runs.load(ordering: .acquiring) == round })
            else { return }
            // The slot is being given back just now.
            for _ in 0..<UInt64.random(in: 0..<400, using: &random) { _ = runs.load(ordering: .relaxed) }
        }
        drains(queue)
    }

    @Test("two threads add the first dependency", .contract("E4", "E12"))
    func firstDependencies() {
        let dependents = (0..<Scale.of(20_000)).map { _ in MainOperation() }
        let dependencies = [MainOperation(), MainOperation()]
        let arrivals = Atomic<Int>(0)
        onThreads(2) { thread in
            for (round, dependent) in dependents.enumerated() {
                arrivals.add(1, ordering: .relaxed)
                while arrivals.load(ordering: .relaxed) < 2 * (round + 1) { sched_yield() }
                dependent.addDependency(dependencies[thread])
            }
        }
        let wrong = dependents.count { Set($0.dependencies) != Set(dependencies) || $0.isReady }
        #expect(wrong == 0)
        for dependency in dependencies { dependency.start() }
        let unready = dependents.count { !$0.isReady }
        #expect(unready == 0)
    }

    @Test("dependents lose their dependency just as it finishes", .contract("E13"), arguments: [1, 2, 3, 150])
    func removeAgainstFinish(width: Int) {
        let queue = makeQueue()
        let runs = Counter()
        let rounds = Scale.of(6_000 / width)
        let groups = (0..<rounds).map { _ in
            (MainOperation(), (0..<width).map { _ in MainOperation { _ in runs.add() } })
        }
        for (dependency, dependents) in groups {
            for dependent in dependents { dependent.addDependency(dependency) }
            queue.addOperations(dependents, waitUntilFinished: false)
        }
        onThreads(2) { thread in
            for (dependency, dependents) in groups {
                if thread == 0 {
                    dependency.start()
                } else {
                    for dependent in dependents.reversed() { dependent.removeDependency(dependency) }
                }
            }
        }
        drains(queue)
        #expect(runs.value == rounds * width)
    }

    @Test(
        "those that start themselves when asked go as their dependency finishes", .contract("F8", "E21"),
        arguments: [1, 3, 150])
    func releaseAgainstAsking(width: Int) {
        let (freed, runs) = (Counter(), Counter())
        let rounds = Scale.of(6_000 / width)
        let groups = (0..<rounds).map { _ in
            let dependency = MainOperation()
            let dependents = (0..<width).map { _ in StartsItself(runs: runs, freed: freed) }
            for dependent in dependents { dependent.addDependency(dependency) }
            return (dependency, Guarded<[StartsItself]?>(dependents))
        }
        let arrivals = Atomic(0)
        onThreads(2) { thread in
            for (index, (dependency, dependents)) in groups.enumerated() {
                arrivals.add(1, ordering: .relaxed)
                while arrivals.load(ordering: .relaxed) < 2 * (index + 1) { sched_yield() }
                if thread == 0 { dependency.start() } else { dependents.withLock { $0 = nil } }
            }
        }
        freed.wait(for: rounds * width)
        #expect(runs.value <= rounds * width)
    }
}

/// Starts itself when it is asked and finds itself ready.
private final class StartsItself: Operation, @unchecked Sendable {
    private let (runs, freed): (Counter, Counter)
    private let hasBegun = Atomic(false)

    init(runs: Counter, freed: Counter) { (self.runs, self.freed) = (runs, freed) }

    override var isReady: Bool {
        guard super.isReady else { return false }
        if !hasBegun.exchange(true, ordering: .acquiringAndReleasing) { start() }
        return true
    }

    override func main() { runs.add() }

    deinit { freed.add() }
}

/// An operation with one dependency that finishes while another is added.
private final class LateTrio: Sendable {
    let early = MainOperation()
    let late: MainOperation
    let dependent: MainOperation
    private let mustWait: Guarded<Bool>

    init(wrong: Counter) {
        let late = MainOperation()
        let mustWait = Guarded(false)
        self.late = late
        self.mustWait = mustWait
        dependent = MainOperation { _ in
            if mustWait.read() && !late.isFinished { wrong.add() }
        }
        dependent.addDependency(early)
    }

    /// Adds the late dependency. If the operation is then seen to be held back by it, it must be.
    func addLate() {
        dependent.addDependency(late)
        if early.isFinished && !dependent.isReady { mustWait.withLock { $0 = true } }
    }
}

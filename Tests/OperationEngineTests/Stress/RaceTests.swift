import Glibc
import OperationEngine
import Synchronization
import TestSupport
import Testing

@Suite("Stress: races of two", .blocking, .serialized)
struct RaceTests {
    @Test("addDependency racing with the choice: it blocks, or the operation has begun", .contract("E18"))
    func addDependencyAgainstChoice() {
        let queue = makeQueue(limit: 2)
        let wrong = Counter()
        for _ in 0..<Scale.of(3_000) {
            let dependency = MainOperation()
            let mustWait = Guarded(false)
            let operation = MainOperation { _ in
                if mustWait.read() && !dependency.isFinished { wrong.add() }
            }
            queue.addOperation(operation)
            operation.addDependency(dependency)
            if !operation.isReady { mustWait.withLock { $0 = true } }
            dependency.start()
        }
        drains(queue)
        #expect(wrong.value == 0)
    }

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

    @Test("an operation added just as the queue is resumed is not lost", .contract("E25", "N10"))
    func addAgainstResume() {
        let queue = makeQueue(limit: 1)
        let runs = Counter()
        let rounds = Scale.of(2_000)
        for round in 1...rounds {
            queue.isSuspended = true
            onThreads(2) { thread in
                if thread == 0 {
                    queue.isSuspended = false
                } else {
                    queue.addOperation { runs.add() }
                }
            }
            guard runs.wait(for: round) else { return }
        }
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

    @Test("removeDependency racing with the dependency's finish unlocks exactly once", .contract("E13"))
    func removeAgainstFinish() {
        let queue = makeQueue()
        let runs = Counter()
        let rounds = Scale.of(3_000)
        let pairs = (0..<rounds).map { _ in (MainOperation(), MainOperation { _ in runs.add() }) }
        for (dependency, dependent) in pairs {
            dependent.addDependency(dependency)
            queue.addOperation(dependent)
        }
        onThreads(2) { thread in
            for (dependency, dependent) in pairs {
                if thread == 0 { dependency.start() } else { dependent.removeDependency(dependency) }
            }
        }
        drains(queue)
        #expect(runs.value == rounds)
    }

    @Test("several dependents without their dependency, just as it finishes", .contract("E13"), arguments: [2, 3, 150])
    func removeSeveralAgainstFinish(width: Int) {
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

    @Test("timed and plain waits racing with the finish", .contract("O2", "O7"))
    func waitAgainstFinish() {
        let queue = makeQueue()
        let rounds = Scale.of(1_000)
        let lies = Counter()
        let operations = (0..<rounds).map { _ in MainOperation() }
        completes("waits from six threads") {
            onThreads(6) { thread in
                for operation in operations {
                    if thread == 0 {
                        queue.addOperation(operation)
                    } else if thread < 3 {
                        operation.waitUntilFinished()
                        if !operation.isFinished { lies.add() }
                    } else if operation.waitUntilFinished(timeout: .microseconds(20)) && !operation.isFinished {
                        lies.add()
                    }
                }
            }
        }
        #expect(lies.value == 0)
        drains(queue)
    }

    @Test("after a wait for all the counts are exact, whichever threads add and wait", .contract("O3", "M11"))
    func drainAgainstAdding() {
        let queue = makeQueue()
        let rounds = Scale.of(2_000)
        completes("drains from four threads") {
            onThreads(4) { _ in
                for _ in 0..<rounds / 10 {
                    let batch = (0..<10).map { _ in MainOperation() }
                    queue.addOperations(batch, waitUntilFinished: false)
                    queue.waitUntilAllOperationsAreFinished()
                    _ = queue.waitUntilFinished(timeout: .microseconds(50))
                }
            }
        }
        drains(queue)
        #expect(queue.operationCount == 0 && queue.operations.isEmpty)
    }

    @Test("operations never lists a finished one", .contract("M9", "M11"))
    func listingAgainstFinish() {
        let queue = makeQueue(limit: 2)
        let finishedOnes = Counter()
        let stop = Gate("listing ends")
        onThreads(2) { thread in
            if thread == 0 {
                for _ in 0..<Scale.of(10_000) { queue.addOperation(MainOperation()) }
                queue.waitUntilAllOperationsAreFinished()
                stop.open()
            } else {
                while !stop.isOpen {
                    // An operation may finish once it is listed; one that was finished before must not be there.
                    let before = queue.operations.filter { $0.isFinished }
                    let after = queue.operations
                    for operation in before where after.contains(where: { $0 === operation }) { finishedOnes.add() }
                }
            }
        }
        #expect(finishedOnes.value == 0)
        #expect(queue.operations.isEmpty)
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

    @Test("the limit changes while work runs; the level never exceeds the greatest one", .contract("N2", "N6"))
    func changingLimits() {
        let seed = announcedSeed("changing limits")
        let queue = makeQueue(limit: 3)
        let level = HighWater()
        let stop = Gate("changing ends")
        onThreads(2) { thread in
            if thread == 0 {
                for _ in 0..<Scale.of(20_000) { queue.addOperation { level.inside {} } }
                queue.waitUntilFinished(timeout: HangLimit.wait)
                stop.open()
            } else {
                var random = SeededGenerator(seed: seed)
                while !stop.isOpen {
                    queue.maxConcurrentOperationCount = Int.random(in: 0...3, using: &random)
                    if Int.random(in: 0..<4, using: &random) == 0 { queue.isSuspended.toggle() }
                    queue.maxConcurrentOperationCount = Int.random(in: 1...3, using: &random)
                    queue.isSuspended = false
                }
            }
        }
        drains(queue)
        #expect(level.peak <= 3)
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

import Glibc
import OperationEngine
import TestSupport
import Testing

@Suite("Stress: crowds", .blocking, .serialized)
struct CrowdTests {
    /// Pairs a round of the lost wake-up test; `OPBENCH_TEST=size=100000` gives the full one.
    private static let pairs =
        TestRun.number("size") ?? Scale.of(1_000)

    @Test("no wake-up is lost: 100 rounds of pairs all complete", .contract("E25"))
    func pairs() {
        let seed = announcedSeed("pairs")
        var random = SeededGenerator(seed: seed)
        let limits = [-1, 1, 2, 8]
        for round in 0..<100 {
            let runs = Counter()
            let queues = (0..<2).map { _ in makeQueue(limit: limits[round % limits.count]) }
            var operations: [MainOperation] = []
            for _ in 0..<Self.pairs {
                let dependency = MainOperation { _ in runs.add() }
                let dependent = MainOperation { _ in runs.add() }
                dependent.addDependency(dependency)
                operations.append(dependency)
                operations.append(dependent)
            }
            if round % 2 == 1 { operations.shuffle(using: &random) }
            add(operations, to: queues, round: round, random: &random)
            for queue in queues {
                guard drains(queue) else { return }
            }
            #expect(runs.value == Self.pairs * 2)
        }
    }

    private func add(
        _ operations: [MainOperation], to queues: [OperationQueue], round: Int, random: inout SeededGenerator
    ) {
        switch round % 3 {
        case 0:
            queues[0].addOperations(operations, waitUntilFinished: false)
        case 1:
            for operation in operations { queues[Int.random(in: 0..<2, using: &random)].addOperation(operation) }
        default:
            let half = operations.count / 2
            onThreads(2) { thread in
                for operation in thread == 0 ? operations[..<half] : operations[half...] {
                    queues[thread].addOperation(operation)
                }
            }
        }
    }

    @Test(
        "producers from many threads; a serial queue keeps each one's order", .contract("M8", "G5"),
        arguments: [1, 3, -1])
    func producers(limit: Int) {
        let (threads, each) = (8, Scale.of(4_000))
        let queue = makeQueue(limit: limit)
        let runs = Counter()
        let outOfOrder = Counter()
        let last = (0..<threads).map { _ in Guarded(-1) }
        onThreads(threads) { producer in
            for index in 0..<each {
                queue.addOperation {
                    runs.add()
                    let previous = last[producer].withLock { seen -> Int in
                        defer { seen = index }
                        return seen
                    }
                    if previous >= index { outOfOrder.add() }
                }
            }
        }
        drains(queue)
        #expect(runs.value == threads * each)
        if limit == 1 { #expect(outOfOrder.value == 0) }
    }

    @Test("queues dropped in flight run all their operations and are freed", .contract("Q3"))
    func droppedQueues() {
        let freed = Counter()
        let runs = Counter()
        let count = Scale.of(2_000)
        onThreads(4) { _ in
            for index in 0..<count / 4 {
                let queue = CountedQueue(freed: freed)
                if index % 2 == 0 { queue.maxConcurrentOperationCount = 1 }
                let first = MainOperation { _ in runs.add() }
                let second = MainOperation { _ in runs.add() }
                second.addDependency(first)
                queue.addOperations([second, first], waitUntilFinished: false)
                queue.addOperation { runs.add() }
            }
        }
        runs.wait(for: count / 4 * 4 * 3)
        freed.wait(for: count / 4 * 4)
    }

    @Test("the last operation may drop its own queue, and wait inside it", .contract("Q3"))
    func queueDroppedByItsOperation() {
        let freed = Counter()
        for _ in 0..<Scale.of(400) {
            let holder = Guarded<CountedQueue?>(CountedQueue(freed: freed))
            holder.read()?.addOperation { holder.withLock { $0 = nil } }
        }
        freed.wait(for: Scale.of(400))
    }

    @Test("waiters from many threads and operations", .contract("O2", "O6"))
    func waiters() {
        let seed = announcedSeed("waiters")
        let queue = makeQueue()
        let waiterQueue = makeQueue(limit: 8)
        let operations = (0..<Scale.of(2_000)).map { _ in MainOperation() }
        let woken = Counter()
        for index in 0..<200 {
            waiterQueue.addOperation {
                operations[index * operations.count / 200].waitUntilFinished()
                woken.add()
            }
        }
        completes("waiters from eight threads") {
            onThreads(8) { thread in
                var random = SeededGenerator(seed: seed &+ UInt64(thread))
                if thread == 0 {
                    for operation in operations { queue.addOperation(operation) }
                } else {
                    for _ in 0..<100 { operations.randomElement(using: &random)?.waitUntilFinished() }
                }
            }
        }
        drains(queue)
        drains(waiterQueue)
        #expect(woken.value == 200)
    }

    @Test("a storm of suspensions loses nothing and exceeds no limit", .contract("N9", "N12"))
    func suspensionStorm() {
        let queue = makeQueue(limit: 3)
        let level = HighWater()
        let runs = Counter()
        let count = Scale.of(20_000)
        let stop = Gate("the storm ends")
        onThreads(3) { thread in
            switch thread {
            case 0:
                while !stop.isOpen {
                    queue.isSuspended = true
                    queue.isSuspended = false
                }
            default:
                for _ in 0..<count / 2 { queue.addOperation { level.inside { runs.add() } } }
                if thread == 1 {
                    runs.wait(for: count)
                    stop.open()
                }
            }
        }
        queue.isSuspended = false
        drains(queue)
        #expect(runs.value == count && level.peak <= 3)
    }

    @Test("changing operations after they were added is safe", .contract("Q8"))
    func changedAfterAdding() {
        let seed = announcedSeed("changed after adding")
        let freed = Counter()
        let completions = Counter()
        let count = Scale.of(8_000)
        let queue = makeQueue(limit: 4)
        do {
            let operations = (0..<count).map { _ in CountedOperation(freed: freed) }
            onThreads(4) { thread in
                var random = SeededGenerator(seed: seed &+ UInt64(thread))
                for (index, operation) in operations.enumerated() {
                    if thread == 0 {
                        queue.addOperation(operation)
                    } else {
                        operation.queuePriority = .init(clamping: Int.random(in: -10...10, using: &random))
                        operation.name = "changed \(index)"
                        operation.threadPriority = Bool.random(using: &random) ? 0.5 : 0.25
                        operation.completionBlock = { completions.add() }
                        if index > 0, Bool.random(using: &random) { operation.addDependency(operations[index - 1]) }
                        if Bool.random(using: &random) { _ = operation.dependencies.count }
                        if index > 0, Bool.random(using: &random) {
                            operation.removeDependency(operations[index - 1])
                        }
                    }
                }
            }
            drains(queue)
            #expect(operations.allSatisfy { $0.isFinished })
            for operation in operations { operation.completionBlock = nil }
        }
        eventually("completion blocks end and everything is freed") { freed.value == count }
    }
}

/// A queue whose release is counted.
private final class CountedQueue: OperationQueue, @unchecked Sendable {
    private let freed: Counter

    init(freed: Counter) {
        self.freed = freed
        super.init()
    }

    deinit { freed.add() }
}

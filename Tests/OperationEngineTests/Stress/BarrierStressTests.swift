import Glibc
import OperationEngine
import TestSupport
import Testing

/// Random barriers among random operations, against a model of what must have run before and after each. The seeds are
/// printed; `OPBENCH_TEST=seed=7` replays them.
@Suite("Stress: barriers", .blocking, .serialized)
struct BarrierStressTests {
    @Test(
        "barriers divide what one thread adds, through cancels, suspensions and changes of all kinds",
        .contract("P7", "P8", "P11"))
    func oneAdder() {
        let seed = announcedSeed("barriers")
        for index in 0..<Scale.of(300) {
            let storm = BarrierStorm(seed: seed &+ UInt64(index), size: 120)
            guard storm.run() else {
                Issue.record("storm \(index) of seed \(seed) hangs")
                return
            }
            let violations = storm.violations
            #expect(violations.isEmpty, "storm \(index) of seed \(seed)")
            guard violations.isEmpty else { return }
        }
    }

    @Test("of barriers that several threads add, each runs alone", .contract("P7"))
    func manyAdders() {
        let queue = makeQueue(limit: 4)
        let (level, barriers, runs) = (Guarded((operations: 0, barriers: 0)), Counter(), Counter())
        let faults = Counter()
        let rounds = Scale.of(5_000)
        onThreads(3) { _ in
            for round in 0..<rounds {
                queue.addOperation {
                    level.withLock {
                        if $0.barriers > 0 { faults.add() }
                        $0.operations += 1
                    }
                    runs.add()
                    level.withLock { $0.operations -= 1 }
                }
                guard round % 3 == 0 else { continue }
                queue.addBarrierBlock {
                    level.withLock {
                        if $0.barriers > 0 || $0.operations > 0 { faults.add() }
                        $0.barriers += 1
                    }
                    barriers.add()
                    level.withLock { $0.barriers -= 1 }
                }
            }
        }
        drains(queue)
        #expect(faults.value == 0 && runs.value == 3 * rounds && barriers.value == 3 * ((rounds + 2) / 3))
        #expect(queue.operationCount == 0)
    }
}

/// An entry in the log of a storm: the order of begins and ends, under one lock.
private enum StormEvent: Sendable {
    case began(Int)
    case ended(Int)
}

/// Operations and barriers, numbered in the order of adding, and a thread that troubles them.
private final class BarrierStorm: @unchecked Sendable {
    private let seed: UInt64
    private let isBarrier: [Bool]
    private let operations: [Int: MainOperation]
    private let queue: OperationQueue
    /// On which asynchronous operations end.
    private let helpers = makeQueue()
    private let log = Recorder<StormEvent>()
    private let asynchronous: [Int: AsynchronousOperation]
    /// A barrier that `cancelAllOperations` may have cancelled promises nothing any more.
    private let cancelsAll: Bool

    init(seed: UInt64, size: Int) {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        let share = Int.random(in: 2...12, using: &random)
        isBarrier = (0..<size).map { _ in Int.random(in: 0..<share, using: &random) == 0 }
        cancelsAll = Int.random(in: 0..<4, using: &random) == 0
        queue = makeQueue(limit: [-1, 1, 2, 5].randomElement(using: &random)!, suspended: Bool.random(using: &random))
        let (log, helpers) = (log, helpers)
        var (plain, own): ([Int: MainOperation], [Int: AsynchronousOperation]) = ([:], [:])
        for index in 0..<size where !isBarrier[index] {
            if Int.random(in: 0..<6, using: &random) == 0 {
                own[index] = AsynchronousOperation { operation in
                    log.append(.began(index))
                    helpers.addOperation {
                        log.append(.ended(index))
                        operation.end()
                    }
                }
            } else {
                plain[index] = MainOperation { _ in
                    log.append(.began(index))
                    log.append(.ended(index))
                }
            }
        }
        (operations, asynchronous) = (plain, own)
        for (index, operation) in plain.sorted(by: { $0.key < $1.key }) where index > 0 {
            // Only on earlier ones: a dependency on one behind a barrier would never be finished.
            let earlier = Int.random(in: 0..<index, using: &random)
            if let dependency = plain[earlier] ?? own[earlier], Bool.random(using: &random) {
                operation.addDependency(dependency)
            }
        }
    }

    func run() -> Bool {
        let done = completes("storming barriers") { [self] in
            onThreads(2) { [self] thread in thread == 0 ? addAll() : trouble() }
        }
        queue.maxConcurrentOperationCount = 3
        queue.isSuspended = false
        return drains(queue) && done
    }

    private func addAll() {
        for index in isBarrier.indices {
            if isBarrier[index] {
                queue.addBarrierBlock { [log] in
                    log.append(.began(index))
                    log.append(.ended(index))
                }
            } else {
                queue.addOperation(operations[index] ?? asynchronous[index]!)
            }
        }
    }

    private func trouble() {
        var random = SeededGenerator(seed: ~seed)
        for _ in isBarrier.indices {
            let operation = operations.values.randomElement(using: &random)!
            switch Int.random(in: 0..<8, using: &random) {
            case 0: operation.cancel()
            case 1: operation.queuePriority = Operation.QueuePriority.allCases.randomElement(using: &random)!
            case 2: operation.dependencies.first.map { operation.removeDependency($0) }
            case 3: queue.isSuspended.toggle()
            case 4: queue.maxConcurrentOperationCount = Int.random(in: 0...4, using: &random)
            case 5: asynchronous.values.randomElement(using: &random)?.cancel()
            case 6 where cancelsAll: queue.cancelAllOperations()
            default: _ = (queue.operations.count, queue.operationCount)
            }
        }
    }

    /// The faults after the run, in words.
    var violations: [String] {
        var faults: [String] = []
        var (begun, ended): (Set<Int>, Set<Int>) = ([], [])
        let ran = Set(log.entries.compactMap { if case .began(let index) = $0 { index } else { nil } })
        for event in log.entries {
            switch event {
            case .ended(let index): ended.insert(index)
            case .began(let index):
                if !begun.insert(index).inserted { faults.append("\(index) ran twice") }
                faults += misplaced(index, begun: begun, ended: ended, ran: ran)
            }
        }
        for index in isBarrier.indices where !ran.contains(index) {
            let isExcused = isBarrier[index] ? cancelsAll : (operations[index] ?? asynchronous[index]!).isCancelled
            if !isExcused { faults.append("\(index) never ran") }
        }
        return faults
    }

    /// At the begin of `index`: what runs beside a barrier, before it though behind it, or after it though before it.
    /// Of a storm that cancels all, only barriers that ran, against what is not separated by a cancelled one, count.
    private func misplaced(_ index: Int, begun: Set<Int>, ended: Set<Int>, ran: Set<Int>) -> [String] {
        var faults: [String] = []
        if isBarrier[index] {
            for other in ran where other < index && !ended.contains(other) {
                faults.append("barrier \(index) begins before \(other) has ended")
            }
            for other in begun where other > index { faults.append("\(other) begins before barrier \(index)") }
        } else {
            for other in ran where other < index && isBarrier[other] && !ended.contains(other) {
                faults.append("\(index) begins before barrier \(other) has ended")
            }
        }
        return faults
    }
}

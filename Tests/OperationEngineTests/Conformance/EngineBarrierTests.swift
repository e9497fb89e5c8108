import Dispatch
import OperationEngine
import TestSupport
import Testing

/// The engine's promises about barriers beyond those of Foundation on Linux.
@Suite("P: barriers, the engine's own lines", .blocking)
struct EngineBarrierTests {
    @Test("a barrier obeys suspension, in an empty queue too", .contract("P8"), arguments: [0, 3])
    func suspension(operations: Int) {
        let queue = makeQueue(suspended: true)
        let (runs, barriers) = (Counter(), Counter())
        for _ in 0..<operations { queue.addOperation { runs.add() } }
        queue.addBarrierBlock { barriers.add(runs.value + 1) }
        settle()
        #expect(runs.value == 0 && barriers.value == 0)
        queue.isSuspended = false
        drains(queue)
        #expect(barriers.value == operations + 1)
    }

    @Test("a suspension that comes while a barrier waits holds it back", .contract("P8"))
    func suspendedLater() {
        let queue = makeQueue()
        let blocker = Blocker()
        blocker.occupy(queue)
        let barriers = Counter()
        queue.addBarrierBlock { barriers.add() }
        queue.isSuspended = true
        blocker.release.open()
        finishes(blocker.operation)
        settle()
        #expect(barriers.value == 0)
        queue.isSuspended = false
        drains(queue)
        #expect(barriers.value == 1)
    }

    @Test("a barrier obeys limit 0", .contract("P8", "N4"))
    func limitZero() {
        let queue = makeQueue(limit: 0)
        let barriers = Counter()
        queue.addBarrierBlock { barriers.add() }
        settle()
        #expect(barriers.value == 0)
        queue.maxConcurrentOperationCount = 1
        drains(queue)
        #expect(barriers.value == 1)
    }

    @Test("several barriers in a row run one after another, in order", .contract("P7"))
    func row() {
        let queue = makeQueue()
        let log = Recorder<Int>()
        let level = HighWater()
        for index in 0..<50 {
            queue.addBarrierBlock { level.inside { log.append(index) } }
        }
        drains(queue)
        #expect(log.entries == Array(0..<50) && level.peak == 1)
    }

    @Test("those behind a barrier start together", .contract("P7", "N13"), arguments: [1, 3])
    func togetherBehindBarrier(barriers: Int) {
        let queue = makeQueue(limit: 4, suspended: true)
        let inside = Counter()
        for _ in 0..<barriers { queue.addBarrierBlock {} }
        // As operations and as closures, in both of which none ends before all have begun.
        for _ in 0..<4 {
            queue.addOperation {
                inside.add()
                inside.wait(for: 4)
            }
        }
        queue.isSuspended = false
        drains(queue)
        for _ in 0..<4 {
            queue.addOperation(
                MainOperation { _ in
                    inside.add()
                    inside.wait(for: 8)
                })
        }
        drains(queue)
    }

    @Test("priorities changed behind a barrier count when it has run", .contract("P7", "G10"))
    func priorityBehind() {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let log = Recorder<Int>()
        let operations = numbered(6, into: log)
        operations[5].queuePriority = .high
        queue.addBarrierBlock { log.append(-1) }
        queue.addOperations(operations, waitUntilFinished: false)
        operations[3].queuePriority = .high
        operations[0].queuePriority = .low
        operations[1].queuePriority = .veryHigh
        operations[1].queuePriority = .normal
        operations[4].threadPriority = 0.25
        blocker.release.open()
        drains(queue)
        #expect(log.entries == [-1, 5, 3, 2, 4, 1, 0] || log.entries == [-1, 5, 3, 2, 1, 4, 0])
    }

    @Test("dependencies added and removed behind a barrier count when it has run", .contract("P7", "E13", "E18"))
    func dependenciesBehind() {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let log = Recorder<Int>()
        let operations = numbered(4, into: log)
        let never = MainOperation()
        operations[0].addDependency(never)
        queue.addBarrierBlock { log.append(-1) }
        queue.addOperations(operations, waitUntilFinished: false)
        operations[1].addDependency(operations[3])
        operations[0].removeDependency(never)
        settle()
        #expect(log.entries.isEmpty && operations[0].isReady && !operations[1].isReady)
        blocker.release.open()
        drains(queue)
        #expect(Array(log.entries.prefix(2)) == [-1, 2] && Set(log.entries) == [-1, 0, 1, 2, 3])
        #expect(log.entries.firstIndex(of: 1)! > log.entries.firstIndex(of: 3)!)
    }

    @Test(
        "a cycle across a barrier is broken by cancelling one of its members", .contract("P7", "E16"),
        arguments: [0, 1])
    func cycle(cancelled: Int) {
        let queue = makeQueue()
        let log = Recorder<Int>()
        let operations = numbered(2, into: log)
        operations[0].addDependency(operations[1])
        queue.addOperation(operations[0])
        queue.addBarrierBlock { log.append(9) }
        queue.addOperation(operations[1])
        settle()
        #expect(log.entries.isEmpty)
        operations[cancelled].cancel()
        drains(queue)
        #expect(log.entries == (cancelled == 0 ? [9, 1] : [0, 9]))
    }

    @Test("an operation that was cancelled before it was added finishes behind a barrier", .contract("P7", "J9"))
    func cancelledBefore() {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let barriers = Counter()
        queue.addBarrierBlock { barriers.add() }
        let (single, batch) = (MainOperation(), [MainOperation(), MainOperation()])
        for operation in batch + [single] { operation.cancel() }
        queue.addOperation(single)
        finishes(single)
        queue.addOperations(batch, waitUntilFinished: false)
        for operation in batch { finishes(operation) }
        #expect(barriers.value == 0)
        blocker.release.open()
        drains(queue)
    }

    @Test("a cancelled operation with a start of its own waits for the barrier", .contract("P7", "J5"))
    func cancelledWithOwnStart() {
        let queue = makeQueue(limit: 3)
        let blocker = Blocker()
        blocker.occupy(queue)
        let log = Recorder<String>()
        queue.addBarrierBlock { log.append("barrier") }
        let later = AsynchronousOperation()
        later.completionBlock = { log.append("end") }
        queue.addOperation(later)
        later.cancel()
        settle()
        #expect(later.starts.value == 0)
        blocker.release.open()
        drains(queue)
        eventually("the completion block runs") { log.entries == ["barrier", "end"] }
        #expect(later.starts.value == 1)
    }

    @Test("a cancelled operation that says it is not ready holds no barrier up", .contract("P7", "F6"))
    func unreadyBehind() {
        let queue = makeQueue()
        let blocker = Blocker()
        blocker.occupy(queue)
        let barriers = Counter()
        queue.addBarrierBlock { barriers.add() }
        let later = HeldBackOperation()
        queue.addOperation(later)
        later.cancel()
        blocker.release.open()
        eventually("the barrier runs") { barriers.value == 1 }
        #expect(!later.isFinished)
        later.release()
        drains(queue)
        #expect(later.isFinished)
    }

    @Test("cancelling all cancels barriers, and what is added then runs", .contract("P11"))
    func cancelAll() {
        let queue = makeQueue(limit: 2)
        let blocker = Blocker()
        blocker.occupy(queue)
        let (barriers, later) = (Counter(), Counter())
        for _ in 0..<5 {
            queue.addBarrierBlock { barriers.add() }
            queue.addOperation { later.add(100) }
        }
        queue.cancelAllOperations()
        for _ in 0..<5 { queue.addOperation { later.add() } }
        blocker.release.open()
        drains(queue)
        #expect(barriers.value == 0 && later.value == 5)
    }

    @Test("a cancelled barrier holds nobody back, even while an operation before it goes on", .contract("P11"))
    func cancelledBarrier() {
        let queue = makeQueue(limit: 3)
        let blocker = Blocker()
        blocker.occupy(queue)
        let barriers = Counter()
        queue.addBarrierBlock { barriers.add() }
        let asynchronous = AsynchronousOperation()
        queue.addOperation(asynchronous)
        queue.addBarrierBlock { barriers.add() }
        queue.cancelAllOperations()
        let new = MainOperation()
        queue.addOperation(new)
        finishes(new)
        finishes(asynchronous)
        #expect(asynchronous.starts.value == 1 && !blocker.operation.isFinished)
        blocker.release.open()
        drains(queue)
        #expect(barriers.value == 0)
    }

    @Test("a barrier that runs while all are cancelled ends, and then those behind it run", .contract("P11"))
    func cancelledWhileRunning() {
        let queue = makeQueue()
        let (begun, release) = (Gate("the barrier begins"), Gate("the barrier is released"))
        let log = Recorder<Int>()
        queue.addBarrierBlock {
            begun.open()
            release.wait()
            log.append(1)
        }
        begun.wait()
        queue.cancelAllOperations()
        queue.addOperation { log.append(2) }
        settle()
        #expect(log.entries.isEmpty)
        release.open()
        drains(queue)
        #expect(log.entries == [1, 2])
    }

    @Test("barriers cancelled in a suspended queue go when it is resumed", .contract("P11", "J7"))
    func cancelledSuspended() {
        let released = Counter()
        let queue = makeQueue(suspended: true)
        for _ in 0..<3 {
            let token = Token(released: released)
            queue.addBarrierBlock { token.hold() }
            queue.addOperation {}
        }
        queue.cancelAllOperations()
        #expect(queue.waitUntilFinished(timeout: .zero) == false && released.value == 0)
        queue.isSuspended = false
        drains(queue)
        released.wait(for: 3)
    }

    @Test("observers of the queue hear nothing of a barrier", .contract("P10"))
    func unobserved() {
        let queue = makeQueue()
        let changes = Counter()
        let tokens = [
            queue.observe(\.operationCount) { _, _ in changes.add() },
            queue.observe(\.operations) { _, _ in changes.add() },
        ]
        for _ in 0..<3 { queue.addBarrierBlock {} }
        drains(queue)
        #expect(changes.value == 0)
        withExtendedLifetime(tokens) {}
    }

    @Test(
        "a barrier runs on the underlying queue, and the current one is its own", .contract("P9", "P5", "P2"),
        arguments: [1, 4])
    func underlying(limit: Int) {
        let key = DispatchSpecificKey<Int>()
        let target = DispatchQueue(label: "concurrent", attributes: .concurrent)
        target.setSpecific(key: key, value: 7)
        let (queue, log) = (makeQueue(limit: limit), Recorder<Int>())
        queue.underlyingQueue = target
        for round in 0..<20 {
            queue.addBarrierBlock { [unowned queue] in
                let isThere = DispatchQueue.getSpecific(key: key) == 7 && OperationQueue.current === queue
                log.append(isThere ? -round : 1_000)
            }
            for _ in 0..<5 { queue.addOperation { log.append(round + 1) } }
        }
        drains(queue)
        var expected: [Int] = []
        for round in 0..<20 { expected += [-round] + Array(repeating: round + 1, count: 5) }
        #expect(log.entries == expected)
    }

    @Test("the block of a barrier is released after it has run", .contract("P7", "Q5"))
    func released() {
        let released = Counter()
        let queue = makeQueue()
        do {
            let token = Token(released: released)
            queue.addBarrierBlock { token.hold() }
        }
        drains(queue)
        released.wait(for: 1)
    }

    @Test("a barrier may wait for an operation of another queue, and for one that it starts itself", .contract("P7"))
    func waitsInside() {
        let (queue, other) = (makeQueue(limit: 1), makeQueue(limit: 1))
        let runs = Counter()
        for _ in 0..<50 {
            queue.addBarrierBlock {
                let operation = MainOperation { _ in runs.add() }
                other.addOperation(operation)
                operation.waitUntilFinished()
                MainOperation { _ in runs.add() }.start()
            }
        }
        drains(queue)
        #expect(runs.value == 100)
    }

    @Test("an operation behind a barrier that announces its end by itself leaves the queue", .contract("P7", "C9"))
    func earlyEnd() async {
        await #expect(processExitsWith: .success) {
            let reports = Counter()
            Misuse.handler = { _ in reports.add() }
            let queue = makeQueue()
            let blocker = Blocker()
            blocker.occupy(queue)
            let barriers = Counter()
            queue.addBarrierBlock { barriers.add() }
            let later = AsynchronousOperation()
            queue.addOperation(later)
            later.end()
            blocker.release.open()
            synchronously { queue.waitUntilAllOperationsAreFinished() }
            precondition(reports.value == 1 && barriers.value == 1 && later.starts.value == 0)
        }
    }

    @Test("a hundred thousand barriers with operations between them", .contract("P7"))
    func many() {
        let count = Scale.of(100_000)
        let queue = makeQueue(suspended: true)
        let (runs, barriers) = (Counter(), Counter())
        for index in 0..<count {
            queue.addBarrierBlock { barriers.add() }
            if index % 2 == 0 { queue.addOperation { runs.add() } }
        }
        queue.isSuspended = false
        drains(queue)
        #expect(barriers.value == count && runs.value == (count + 1) / 2)
    }
}

/// Not ready until it is released.
private final class HeldBackOperation: Operation, @unchecked Sendable {
    private let mayGo = Guarded(false)

    override var isReady: Bool { super.isReady && mayGo.read() }

    func release() {
        willChangeValue(for: \.isReady)
        mayGo.withLock { $0 = true }
        didChangeValue(for: \.isReady)
    }
}

import OperationEngine
import OperationEngineProgress
import TestSupport
import Testing

/// Keeps `isFinished` itself, and announces its end inside `run`, which goes on.
private final class EndsInRun: AsyncOperation<Int>, @unchecked Sendable {
    let ended = Gate("the end is announced")
    let goOn = AsyncGate()
    private let finished = Guarded(false)

    init() { super.init(taskPriority: nil) }

    override var isFinished: Bool { finished.read() }

    override func run() async throws -> Int {
        willChangeValue(for: \.isFinished)
        finished.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
        ended.open()
        await goOn.wait()
        return 7
    }
}

@Suite("X1: async operations", .blocking)
struct AsyncOperationTests {
    @Test("the value that the body returns, and the error that it throws", .contract("X1"))
    func results() throws {
        let queue = makeQueue()
        let good = queue.addOperation { () async in 7 }
        let bad = queue.addOperation { () async throws -> Int in throw Fault(number: 3) }
        #expect(try awaited { try await good.value } == 7)
        #expect(throws: Fault(number: 3)) { try awaited { try await bad.value } }
        #expect(try good.result?.get() == 7)
        #expect(throws: Fault(number: 3)) { try bad.result?.get() }
        #expect(good.ending?.kind == "succeeded" && bad.ending?.kind == "failed")
        #expect(good.failure == nil && bad.failure as? Fault == Fault(number: 3))
    }

    @Test(
        "an end announced in run frees the slot; the queue lives until run has returned",
        .contract("X1", "C6", "P12", "Q3"))
    func endAnnouncedInRun() {
        weak var dropped: OperationQueue?
        let operation = EndsInRun()
        let progress = {
            let queue = makeQueue(limit: 1)
            dropped = queue
            queue.progress.totalUnitCount = 2
            queue.addOperation(operation)
            queue.addOperation(MainOperation())
            operation.ended.wait()
            drains(queue)
            return queue.progress
        }()
        #expect(dropped != nil && progress.completedUnitCount == 1)
        operation.goOn.open()
        eventually("the queue is freed") { dropped == nil }
        #expect(progress.completedUnitCount == 2)
    }

    @Test("no result before the finish", .contract("X1"))
    func noResultYet() throws {
        let blocker = AsyncBlocker(value: 1)
        #expect(blocker.operation.result == nil && blocker.operation.ending == nil)
        blocker.occupy(makeQueue())
        #expect(StateFlags(blocker.operation) == StateFlags(ready: true, executing: true))
        #expect(blocker.operation.result == nil && blocker.operation.ending == nil)
        blocker.release.open()
        #expect(try awaited { try await blocker.operation.value } == 1)
        #expect(StateFlags(blocker.operation) == StateFlags(ready: true, finished: true))
    }

    @Test("the slot is taken until the task has ended, not until start returns", .contract("X1", "C6"))
    func holdsSlot() {
        let queue = makeQueue(limit: 1)
        let log = Recorder<String>()
        let (begun, release) = (Gate(), AsyncGate())
        queue.addOperation {
            begun.open()
            await release.wait()
            log.append("body ends")
        }
        queue.addOperation { log.append("next") }
        begun.wait()
        // The worker of the limit-1 queue has come back from start by the time that it runs another queue's work.
        for _ in 0..<50 {
            let other = Gate("another queue's operation runs")
            makeQueue().addOperation { other.open() }
            other.wait()
        }
        #expect(log.entries.isEmpty && queue.operationCount == 2)
        release.open()
        drains(queue)
        #expect(log.entries == ["body ends", "next"])
    }

    @Test("never more bodies at once than the limit allows", .contract("X1", "N2"), arguments: [1, 3])
    func limit(of limit: Int) {
        let queue = makeQueue(limit: limit)
        let inside = Guarded((now: 0, peak: 0))
        let runs = Counter()
        for _ in 0..<Scale.of(2000) {
            queue.addOperation {
                inside.withLock {
                    $0.now += 1
                    $0.peak = max($0.peak, $0.now)
                }
                for _ in 0..<3 { await Task.yield() }
                inside.withLock { $0.now -= 1 }
                runs.add()
            }
        }
        drains(queue)
        #expect(runs.value == Scale.of(2000) && inside.read().peak <= limit && inside.read().now == 0)
    }

    @Test("a thousand bodies that wait at once hold no thread", .contract("X1"))
    func noThreads() {
        let count = 1000
        let queue = makeQueue(limit: count)
        let threadsBefore = ThreadFacts.count
        let blockers = (0..<count).map { _ in AsyncBlocker() }
        for blocker in blockers { queue.addOperation(blocker.operation) }
        for blocker in blockers { blocker.begun.wait() }
        // The engine's workers, the cooperative pool's and other tests' threads: tens, not a thousand.
        #expect(ThreadFacts.count < threadsBefore + count / 4)
        for blocker in blockers { blocker.release.open() }
        drains(queue)
    }

    @Test(
        "suspension, dependencies on both sides, priority and the completion block, as for any operation",
        .contract("X1"))
    func likeAnyOther() {
        let queue = makeQueue(limit: 1, suspended: true)
        let log = Recorder<String>()
        let (begun, completed) = (Gate("the low one begins"), Gate("the completion block runs"))
        let low = AsyncOperation { log.append("low") }
        low.queuePriority = .low
        let high = AsyncOperation { () async in
            await Task.yield()
            log.append("high")
        }
        high.queuePriority = .high
        let first = MainOperation { _ in log.append("first") }
        first.queuePriority = .veryLow
        let last = MainOperation { _ in log.append("last") }
        high.addDependency(first)
        last.addDependency(low)
        last.queuePriority = .veryHigh
        low.completionBlock = { [unowned low] in
            if low.isFinished { completed.open() }
        }
        for operation in [last, low, high, first] { queue.addOperation(operation) }
        begun.open()
        #expect(!high.isReady && low.isReady && low.isAsynchronous)
        queue.isSuspended = false
        drains(queue)
        completed.wait()
        #expect(log.entries == ["low", "last", "first", "high"])
    }

    @Test("a barrier waits until the task has ended, and what is async behind it waits too", .contract("X1", "P7"))
    func barrier() {
        let queue = makeQueue()
        let log = Recorder<String>()
        let blocker = AsyncBlocker()
        blocker.occupy(queue)
        queue.addBarrierBlock { log.append(blocker.operation.isFinished ? "barrier" : "barrier too early") }
        queue.addOperation { () async in log.append("behind") }
        let other = Gate("another queue's operation runs")
        makeQueue().addOperation { other.open() }
        other.wait()
        #expect(log.entries.isEmpty)
        blocker.release.open()
        drains(queue)
        #expect(log.entries == ["barrier", "behind"])
    }

    @Test("started by hand it runs too, and start returns before the end", .contract("X1"))
    func byHand() throws {
        let blocker = AsyncBlocker(value: 5)
        blocker.operation.start()
        #expect(blocker.operation.isExecuting)
        blocker.release.open()
        #expect(try awaited { try await blocker.operation.value } == 5)
    }

    @Test("a subclass overrides run", .contract("X1"))
    func subclass() throws {
        final class Doubling: AsyncOperation<Int>, @unchecked Sendable {
            private let number: Int
            init(_ number: Int) {
                self.number = number
                super.init(taskPriority: nil)
            }
            override func run() async throws -> Int {
                await Task.yield()
                return 2 * number
            }
        }
        let operation = Doubling(21)
        makeQueue().addOperation(operation)
        #expect(try awaited { try await operation.value } == 42)
    }

    @Test("neither a body nor an overridden run is a failure", .contract("X1"))
    func noBody() {
        let operation = AsyncOperation<Int>(taskPriority: nil)
        operation.start()
        awaited { await operation.finished() }
        #expect(operation.ending?.kind == "failed")
    }

    @Test("the task has the priority asked for", .contract("X1"))
    func taskPriority() throws {
        let operation = makeQueue().addOperation(taskPriority: .low) { () async in Task.currentPriority }
        // Awaiting would raise it.
        finishes(operation)
        #expect(try operation.result?.get() == .low)
    }

    @Test("a thread priority is kept as a value and has no effect", .contract("X1"))
    func threadPriority() {
        let operation = AsyncOperation {}
        operation.threadPriority = 0
        #expect(operation.threadPriority == 0 && operation.effectiveThreadPriority == 0.5)
    }

    @Test("observers hear of the start, and of the end when the task has ended", .contract("X1"))
    func observation() {
        let log = Recorder<String>()
        let blocker = AsyncBlocker()
        let tokens = [
            blocker.operation.observe(\.isExecuting, options: .new) { _, change in
                log.append("executing \(change.newValue == true)")
            },
            blocker.operation.observe(\.isFinished, options: .new) { _, change in
                log.append("finished \(change.newValue == true)")
            },
            blocker.operation.observe(\.isReady) { _, _ in log.append("ready") },
        ]
        let queue = makeQueue()
        blocker.occupy(queue)
        #expect(log.entries == ["executing true"])
        blocker.release.open()
        drains(queue)
        #expect(log.entries == ["executing true", "executing false", "finished true"])
        withExtendedLifetime(tokens) {}
    }

    @Test("operation, body and captures are released after the end", .contract("X1", "Q5"))
    func released() {
        let freed = Counter()
        let queue = makeQueue()
        let kept = {
            let token = Token(released: freed)
            return queue.addOperation {
                await Task.yield()
                token.hold()
            }
        }()
        drains(queue)
        eventually("the body is released though the operation is kept") { freed.value == 1 }
        withExtendedLifetime(kept) {}
        weak var other: AsyncOperation<Void>?
        do {
            let operation = queue.addOperation { await Task.yield() }
            other = operation
            finishes(operation)
        }
        eventually("the operation is released") { other == nil }
    }
}

extension StateFlags {
    init(ready: Bool, executing: Bool = false, finished: Bool = false, cancelled: Bool = false) {
        self.init(Operation())
        self.ready = ready
        self.executing = executing
        self.finished = finished
        self.cancelled = cancelled
    }
}

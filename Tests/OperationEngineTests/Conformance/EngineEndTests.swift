import Dispatch
import OperationEngine
import TestSupport
import Testing

/// Overrides `isFinished` alone: true after `end()`, once the engine says so too.
private final class EndsLater: Operation, @unchecked Sendable {
    /// The engine has asked, and got a no.
    let asked = Gate("the engine asks")
    private let isOver = Guarded(false)

    override var isFinished: Bool {
        let isOver = isOver.read()
        let isOverForEngine = super.isFinished
        if isOverForEngine { asked.open() }
        return isOverForEngine && isOver
    }

    func end() {
        willChangeValue(for: \.isFinished)
        isOver.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
    }
}

/// A task whose operation ends later.
private final class TaskThatEndsLater: AsyncOperation<Int>, @unchecked Sendable {
    let taskReturns = Gate("the task returns")
    private let isOver = Guarded(false)

    init() { super.init(taskPriority: nil) }

    override var isFinished: Bool { super.isFinished && isOver.read() }

    override func run() async -> Int {
        taskReturns.open()
        return 7
    }

    func end() {
        isOver.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
    }
}

/// Has its inherited start called on another thread.
private final class OwnEndElsewhere: OwnEnd, @unchecked Sendable {
    override func start() { DispatchQueue.global().async { self.startHere() } }
    private func startHere() { super.start() }
}

/// Calls back when it is freed.
private final class Freed: Operation, @unchecked Sendable {
    private let words: @Sendable () -> Void
    private let asked: @Sendable () -> Void

    init(asked: @escaping @Sendable () -> Void = {}, words: @escaping @Sendable () -> Void) {
        (self.asked, self.words) = (asked, words)
    }

    override var isReady: Bool {
        asked()
        return super.isReady
    }

    deinit { words() }
}

/// Announces its end when it is freed.
private final class EndsInDeinit: Operation, @unchecked Sendable {
    private let isOver = Guarded(false)

    override var isFinished: Bool { isOver.read() }

    deinit {
        isOver.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
    }
}

@Suite("C: ends that a subclass decides about, the engine's own lines", .blocking)
struct EngineEndTests {
    @Test("it executes until it ends, and never both", .contract("C14", "A3", "D7"))
    func executes() {
        let log = Recorder<String>()
        let operation = EndsLater()
        let tokens = [
            operation.observe(\.isExecuting) { operation, _ in log.append("executing \(operation.isExecuting)") },
            operation.observe(\.isFinished) { operation, _ in
                log.append("finished \(operation.isFinished) \(operation.isExecuting)")
            },
        ]
        let queue = makeQueue()
        queue.addOperation(operation)
        operation.asked.wait()
        #expect(operation.isExecuting && !operation.isFinished && log.entries == ["executing true"])
        operation.end()
        drains(queue)
        #expect(log.entries == ["executing true", "executing false", "finished true false"])
        withExtendedLifetime(tokens) {}
    }

    // Not shared: Foundation loses a slot now and then, see the contract, C14.
    @Test("an end that is announced while main returns is not lost", .contract("C14"), arguments: OwnEndStyle.allCases)
    func endsWhileMainReturns(style: OwnEndStyle) {
        let ender = DispatchQueue(label: "own-end.ender")
        let ends = Counter()
        let queue = makeQueue(limit: 2)
        let operations = (0..<Scale.of(2_000)).map { _ in
            style.make { operation in ender.async { operation.end() } }
        }
        for operation in operations { operation.completionBlock = { ends.add() } }
        queue.addOperations(operations, waitUntilFinished: false)
        drains(queue)
        ends.wait(for: operations.count)
        #expect(operations.allSatisfy { $0.isFinished && $0.mains.value == 1 })
    }

    @Test("a task's operation asks too, and has its result at the end", .contract("C14", "X1"))
    func task() {
        let queue = makeQueue(limit: 1)
        let operation = TaskThatEndsLater()
        let next = Counter()
        queue.addOperation(operation)
        queue.addOperation { next.add() }
        operation.taskReturns.wait()
        _ = Guarded(false).wait(within: .milliseconds(30)) { $0 }
        #expect(!operation.isFinished && operation.result == nil && next.value == 0)
        operation.end()
        drains(queue)
        #expect((try? operation.result?.get()) == 7 && next.value == 1)
    }

    @Test("one that is left out because of its dependency ends, with the reason", .contract("C14", "X2"))
    func leftOut() {
        let queue = makeQueue(limit: 1)
        let dependency = MainOperation { $0.fail(with: CancellationError()) }
        let operation = EndsLater()
        operation.dependencyFailurePolicy = .skip
        operation.addDependency(dependency)
        queue.addOperations([operation, dependency], waitUntilFinished: false)
        drains(queue)
        if case .skipped = operation.ending {} else { Issue.record("\(operation) was not skipped") }
    }

    /// The way to the start of an operation that is cancelled before its `main`.
    enum Way: CaseIterable, Codable, Sendable { case pool, serialQueue, concurrentQueue, elsewhere, byHand }

    @Test(
        "cancelled before its main it ends by the engine's start, once, whatever it says itself",
        .contract("C14", "B7", "J4", "J5"), arguments: OwnEndStyle.allCases, Way.allCases)
    func cancelledBeforeMain(style: OwnEndStyle, way: Way) {
        for isObserved in [false, true] {
            let (notices, completions, later) = (Counter(), Counter(), Counter())
            let queue = makeQueue(limit: 1, suspended: true)
            if way == .serialQueue { queue.underlyingQueue = DispatchQueue(label: "own-end.serial") }
            if way == .concurrentQueue { queue.underlyingQueue = DispatchQueue.global() }
            let operation = way == .elsewhere ? OwnEndElsewhere(style) : style.make()
            operation.completionBlock = { completions.add() }
            let token = isObserved ? operation.observe(\.isFinished) { _, _ in notices.add() } : nil
            let other = makeQueue()
            let dependent = MainOperation()
            dependent.addDependency(operation)
            other.addOperation(dependent)
            operation.cancel()
            if way == .byHand {
                operation.start()
            } else {
                queue.addOperation(operation)
                queue.addBarrierBlock { later.add() }
                queue.addOperation { later.add() }
            }
            queue.isSuspended = false
            guard finishes(operation), drains(queue), drains(other) else { return }
            completions.wait(for: 1)
            #expect(operation.mains.value == 0 && dependent.isFinished && later.value == (way == .byHand ? 0 : 2))
            #expect(!operation.isFinished && operation.ending != nil && notices.value == (isObserved ? 1 : 0))
            // Its observers hear what it announces, and nothing else comes of that (contract D22).
            operation.end()
            #expect(operation.isFinished && notices.value == (isObserved ? 2 : 0))
            let last = MainOperation()
            queue.addOperation(last)
            finishes(last)
            drains(queue)
            #expect(completions.value == 1 && queue.operationCount == 0)
            token?.invalidate()
        }
    }

    @Test("cancelled, it needs no slot to end", .contract("C14", "J9"), arguments: [OwnEndStyle.main, .afterSuper])
    func cancelledInFullQueue(style: OwnEndStyle) {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let operations = (0..<100).map { _ in style.make() }
        queue.addOperations(operations, waitUntilFinished: false)
        for operation in operations { operation.cancel() }
        for operation in operations { guard finishes(operation) else { return } }
        #expect(operations.allSatisfy { $0.mains.value == 0 && $0.ending != nil })
        blocker.release.open()
        drains(queue)
    }

    @Test(
        "an end that is not announced is reported once, and still not an end", .contract("C3", "R"),
        arguments: [true, false])
    func notAnnounced(inStart: Bool) async {
        await #expect(processExitsWith: .success) { [inStart] in
            let reports = Recorder<Misuse>()
            let reported = Gate("the end is reported")
            EndlessWait.patience = .milliseconds(20)
            Misuse.handler = {
                reports.append($0)
                if case .endNotAnnounced = $0 { reported.open() }
            }
            let queue = makeQueue(limit: 1)
            let operation = AsynchronousOperation { if inStart { $0.endSilently() } }
            let next = Counter()
            queue.addOperation(operation)
            queue.addOperation { next.add() }
            operation.started.wait()
            // An end after the start is seen by those who wait.
            if !inStart { operation.endSilently() }
            onNewThread { queue.waitUntilAllOperationsAreFinished() }
            reported.wait()
            #expect(next.value == 0 && queue.operationCount == 2)
            operation.announceEnd()
            drains(queue)
            let ends = reports.entries.filter { if case .endNotAnnounced = $0 { true } else { false } }
            #expect(next.value == 1 && ends.count == 1)
        }
    }

    // MARK: What callbacks find

    @Test("what the engine releases for the last operation of a dropped queue may ask for it", .contract("P2", "Q3"))
    func currentAfterTheLast() {
        let freed = Counter()
        let seen = Recorder<Bool>()
        for _ in 0..<Scale.of(500) {
            let holder = Guarded<Freed?>(nil)
            let dependency = MainOperation()
            // It is asked as the dependency ends, and its asker is left the last to keep it.
            let dependent = Freed {
                if dependency.isFinished { holder.withLock { $0 = nil } }
            } words: {
                seen.append(OperationQueue.current?.name == "dropped")
                freed.add()
            }
            dependent.addDependency(dependency)
            holder.withLock { $0 = dependent }
            do {
                let queue = makeQueue()
                queue.name = "dropped"
                queue.addOperation(dependency)
            }
        }
        freed.wait(for: Scale.of(500))
        #expect(seen.entries.count == Scale.of(500))
    }

    @Test("an operation in no queue may announce its end in its deinit, with a completion block", .contract("Q9", "I1"))
    func endsInDeinit() {
        let called = Counter()
        for isStarted in [false, true] {
            let operation = EndsInDeinit()
            operation.completionBlock = { called.add() }
            if isStarted { operation.start() }
        }
        called.wait(for: 2)
    }

    // MARK: Waits that are looked at

    @Test("a look at a wait goes through so many operations and no further", .contract("O5"))
    func boundedLook() {
        let last = Operation()
        var chain: [Operation] = [last]
        for _ in 0..<EndlessWait.mostVisited + 10 {
            let operation = Operation()
            operation.addDependency(chain[chain.count - 1])
            chain.append(operation)
        }
        last.addDependency(chain[1])
        #expect(EndlessWait.reason(forOperation: chain[chain.count - 1]) == nil)
        #expect(EndlessWait.reason(forOperation: chain[10])?.contains("cycle") == true)
        last.removeDependency(chain[1])
    }

    @Test("looks at waits can be turned off", .contract("O5"))
    func noLooks() async {
        await #expect(processExitsWith: .success) {
            let reports = Counter()
            Misuse.handler = { _ in reports.add() }
            Misuse.findsEndlessWaits = false
            EndlessWait.patience = .milliseconds(1)
            let (operation, other) = (Operation(), Operation())
            operation.addDependency(other)
            other.addDependency(operation)
            let queue = makeQueue()
            synchronously { queue.addOperations([operation, other], waitUntilFinished: false) }
            let waited = Counter()
            onNewThread {
                operation.waitUntilFinished()
                waited.add()
            }
            _ = Guarded(false).wait(within: .milliseconds(50)) { $0 }
            #expect(reports.value == 0)
            operation.cancel()
            waited.wait(for: 1)
            drains(queue)
        }
    }
}

import Dispatch
import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

/// An asynchronous operation as the seeds write it: its own `start`, its own state, announced by hand.
final class AsynchronousOperation: Operation, @unchecked Sendable {
    private struct Flags {
        var executing = false
        var finished = false
    }

    let started = Gate("the asynchronous operation is started")
    let starts = Counter()
    private let flags = Guarded(Flags())
    private let body: @Sendable (AsynchronousOperation) -> Void

    /// `start` ends with a call of `body`; the operation continues until `end()`.
    init(_ body: @escaping @Sendable (AsynchronousOperation) -> Void = { _ in }) {
        self.body = body
        super.init()
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { flags.read().executing }
    override var isFinished: Bool { flags.read().finished }

    override func start() {
        starts.add()
        if isCancelled {
            end()
            started.open()
            return
        }
        willChangeValue(forKey: "isExecuting")
        flags.withLock { $0.executing = true }
        didChangeValue(forKey: "isExecuting")
        started.open()
        body(self)
    }

    /// Finishes the operation and says so.
    func end() {
        endSilently()
        announceEnd()
    }

    /// Finishes the operation and says nothing.
    func endSilently() {
        flags.withLock {
            $0.executing = false
            $0.finished = true
        }
    }

    func announceEnd() {
        willChangeValue(forKey: "isFinished")
        didChangeValue(forKey: "isFinished")
    }
}

/// An operation whose own `start` has the inherited one called by a thread of Dispatch.
final class StartsElsewhere: Operation, @unchecked Sendable {
    let starts = Counter()
    private let body: @Sendable (StartsElsewhere) -> Void
    private let before: @Sendable (StartsElsewhere) -> Void
    private let after: @Sendable (StartsElsewhere) -> Void

    /// `before` is what the other thread does before it starts the operation, `after` what `start` does at its end.
    init(
        main body: @escaping @Sendable (StartsElsewhere) -> Void = { _ in },
        before: @escaping @Sendable (StartsElsewhere) -> Void = { _ in },
        after: @escaping @Sendable (StartsElsewhere) -> Void = { _ in }
    ) {
        self.body = body
        self.before = before
        self.after = after
        super.init()
    }

    override func start() {
        starts.add()
        DispatchQueue.global().async { [self] in
            before(self)
            startHere()
        }
        after(self)
    }

    func startHere() { super.start() }

    override func main() { body(self) }
}

/// Lets whatever a queue might do wrongly happen: a round through another queue.
func settle() {
    let other = makeQueue()
    for _ in 0..<100 { other.addOperation {} }
    drains(other)
}

@Suite("C: asynchronous operations", .blocking)
struct AsynchronousOperationTests {
    @Test(
        "an end announced while start goes on frees slot and dependents at once", .contract("C6", "C12"),
        arguments: [false, true])
    func endInsideStart(isOnOtherThread: Bool) {
        let queue = makeQueue(limit: 1)
        let goOn = Gate("the dependent runs")
        let returned = Gate("start returns")
        let operation = AsynchronousOperation { operation in
            if isOnOtherThread { onNewThread { operation.end() } } else { operation.end() }
            goOn.wait()
            returned.open()
        }
        let dependent = MainOperation { _ in goOn.open() }
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        returned.wait()
        drains(queue)
        #expect(operation.starts.value == 1 && dependent.isFinished && queue.operationCount == 0)
    }

    @Test(
        "unfinished after start has returned, until the end is announced, from any thread", .contract("C1", "C2", "C12")
    )
    func untilAnnounced() {
        let runs = Counter()
        let queue = makeQueue()
        let operation = AsynchronousOperation()
        let dependent = MainOperation { _ in runs.add() }
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        operation.started.wait()
        settle()
        #expect(operation.isExecuting && !operation.isFinished && queue.operationCount == 2)
        #expect(!dependent.isReady && runs.value == 0)
        operation.end()
        finishes(operation)
        drains(queue)
        #expect(runs.value == 1 && operation.starts.value == 1)
    }

    @Test("the end may be announced inside start", .contract("C12"))
    func endInsideStart() {
        let queue = makeQueue(limit: 1)
        let operations = (0..<100).map { _ in AsynchronousOperation { $0.end() } }
        queue.addOperations(operations, waitUntilFinished: false)
        drains(queue)
        #expect(operations.allSatisfy { $0.isFinished && $0.starts.value == 1 })
    }

    @Test("started by hand, it ends when it says so, and unlocks its dependents", .contract("C2", "B17"))
    func startedByHand() {
        let operation = AsynchronousOperation()
        let dependent = MainOperation()
        dependent.addDependency(operation)
        operation.start()
        #expect(operation.isExecuting && !operation.isFinished && !dependent.isReady)
        operation.end()
        #expect(operation.isFinished && dependent.isReady)
        dependent.start()
        #expect(dependent.isFinished)
    }

    @Test(
        "an end that is not announced unlocks nobody; an announcement of isExecuting is not one of the end",
        .contract("C3", "C4"))
    func withoutAnnouncement() {
        let operation = AsynchronousOperation()
        let dependent = MainOperation()
        dependent.addDependency(operation)
        operation.start()
        operation.endSilently()
        operation.willChangeValue(forKey: "isExecuting")
        operation.didChangeValue(forKey: "isExecuting")
        #expect(!dependent.isReady)
        operation.announceEnd()
        #expect(dependent.isReady)
    }

    @Test("without a limit, others run beside one that has not ended", .contract("C5"))
    func othersRun() {
        let queue = makeQueue()
        let operation = AsynchronousOperation()
        queue.addOperation(operation)
        let runs = Counter()
        for _ in 0..<50 { queue.addOperation { runs.add() } }
        runs.wait(for: 50)
        #expect(!operation.isFinished)
        operation.end()
        drains(queue)
    }

    @Test("it holds its slot from start to end", .contract("C6", "N2"))
    func holdsSlot() {
        let queue = makeQueue(limit: 2)
        let operations = (0..<6).map { _ in AsynchronousOperation() }
        queue.addOperations(operations, waitUntilFinished: false)
        for index in operations.indices {
            operations[index].started.wait()
            if index + 1 < operations.count { operations[index + 1].started.wait() }
            settle()
            #expect(operations.count { $0.starts.value > 0 } == min(index + 2, operations.count))
            operations[index].end()
        }
        drains(queue)
    }

    @Test(
        "an overridden start may have the inherited one called elsewhere: it runs main, and ends there",
        .contract("B9", "C6", "B1"))
    func startsElsewhere() {
        let queue = makeQueue(limit: 1)
        let (level, completions) = (HighWater(), Counter())
        let operations = (0..<Scale.of(200)).map { _ in
            StartsElsewhere { operation in
                level.inside {}
                if !operation.isExecuting || operation.isFinished { completions.add(1_000_000) }
            }
        }
        for operation in operations { operation.completionBlock = { completions.add() } }
        let dependent = MainOperation()
        operations.forEach(dependent.addDependency)
        queue.addOperations([dependent] + operations, waitUntilFinished: false)
        drains(queue)
        completions.wait(for: operations.count)
        #expect(completions.value == operations.count && level.peak == 1 && queue.operationCount == 0)
        #expect(operations.allSatisfy { $0.isFinished && !$0.isExecuting && $0.starts.value == 1 })
        #expect(dependent.isFinished)
    }

    @Test(
        "from its start to its end elsewhere it holds its slot, whether start returns before or after",
        .contract("B9", "C6", "N2"))
    func slotElsewhere() {
        let queue = makeQueue(limit: 1)
        let (goOn, begun, end) = (Gate("start goes on elsewhere"), Gate("main begins"), Gate("main ends"))
        let operation = StartsElsewhere(
            main: { _ in
                begun.open()
                end.wait()
            }, before: { _ in goOn.wait() })
        let next = MainOperation()
        queue.addOperations([operation, next], waitUntilFinished: false)
        operation.starts.wait(for: 1)
        settle()
        #expect(!operation.isExecuting && !operation.isFinished && !next.isFinished)
        goOn.open()
        begun.wait()
        settle()
        #expect(operation.isExecuting && !next.isFinished)
        end.open()
        drains(queue)

        let mainHasRun = Gate("main runs")
        let second = StartsElsewhere(main: { _ in mainHasRun.open() }, after: { _ in mainHasRun.wait() })
        queue.addOperation(second)
        drains(queue)
        #expect(operation.isFinished && next.isFinished && second.isFinished)
    }

    @Test("cancelled before the start that goes on elsewhere, it ends without main", .contract("B9", "B7"))
    func cancelledElsewhere() {
        let runs = Counter()
        let queue = makeQueue(limit: 1)
        let goOn = Gate("start goes on elsewhere")
        let operation = StartsElsewhere(main: { _ in runs.add() }, before: { _ in goOn.wait() })
        queue.addOperation(operation)
        operation.starts.wait(for: 1)
        operation.cancel()
        #expect(!operation.isFinished)
        goOn.open()
        drains(queue)
        #expect(operation.isFinished && operation.isCancelled && runs.value == 0)
    }

    @Test("cancelled before its start, it is started, ends itself, and its dependents run", .contract("C7", "C8"))
    func cancelledBefore() {
        let runs = Counter()
        let queue = makeQueue(suspended: true)
        let operation = AsynchronousOperation()
        let dependent = MainOperation { _ in runs.add() }
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        operation.cancel()
        queue.isSuspended = false
        drains(queue)
        #expect(operation.isFinished && operation.isCancelled && operation.starts.value == 1 && runs.value == 1)
    }

    @Test("a queue ignores isAsynchronous: it calls start on one of its threads", .contract("C10"))
    func onlyTheFlag() {
        final class FlagOnly: Operation, @unchecked Sendable {
            let threads = Recorder<Int32>()
            override var isAsynchronous: Bool { true }
            override func main() { threads.append(ThreadFacts.id) }
        }
        let operation = FlagOnly()
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(operation.isFinished && operation.threads.entries.count == 1)
        #expect(operation.threads.entries.first != ThreadFacts.id)
    }

    @Test("announcing the end again is harmless, and frees no second slot", .contract("C11"))
    func announcedTwice() {
        let queue = makeQueue(limit: 1)
        let level = HighWater()
        for _ in 0..<100 {
            let operation = AsynchronousOperation()
            queue.addOperation(operation)
            for _ in 0..<3 { queue.addOperation { level.inside { _ = ThreadFacts.count } } }
            operation.started.wait()
            operation.end()
            operation.announceEnd()
            operation.announceEnd()
        }
        drains(queue)
        #expect(level.peak == 1 && queue.operationCount == 0)
    }

    @Test("ends announced from other threads while start returns", .contract("C12", "C11"), arguments: [1, 4, -1])
    func endRacesWithStart(limit: Int) {
        let queue = makeQueue(limit: limit)
        let helpers = makeQueue(limit: 2)
        let completions = Counter()
        let operations = (0..<Scale.of(1_000)).map { index in
            AsynchronousOperation { operation in
                helpers.addOperation { operation.end() }
                if index % 3 == 0 { helpers.addOperation { operation.announceEnd() } }
            }
        }
        for operation in operations {
            operation.completionBlock = { completions.add() }
            queue.addOperation(operation)
        }
        drains(queue)
        drains(helpers)
        completions.wait(for: operations.count)
        #expect(operations.allSatisfy { $0.isFinished && $0.starts.value == 1 })
        #expect(completions.value == operations.count && queue.operationCount == 0)
    }
}

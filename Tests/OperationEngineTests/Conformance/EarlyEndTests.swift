import OperationEngine
import TestSupport
import Testing

/// Ends in `main`, by the engine's own `start`; its own `start` continues until a gate opens.
private final class LongStart: Operation, @unchecked Sendable {
    let goOn = Gate("the rest of start goes on")
    let returned = Gate("start returns")
    private let freed: Counter
    private let rest: @Sendable () -> Void

    init(freed: Counter = Counter(), rest: @escaping @Sendable () -> Void = {}) {
        self.freed = freed
        self.rest = rest
        super.init()
    }

    override func start() {
        super.start()
        goOn.wait()
        rest()
        returned.open()
    }

    deinit { freed.add() }
}

/// Announces its end when it is asked for the n-th time whether it is ready.
private final class EndsWhenAsked: Operation, @unchecked Sendable {
    private let last: Int
    private let answer: Bool
    private let asks = Guarded(0)
    private let finished = Guarded(false)
    let mains = Counter()

    init(asked last: Int, answer: Bool) {
        self.last = last
        self.answer = answer
        super.init()
    }

    override var isFinished: Bool { finished.read() }
    override var isReady: Bool {
        if asks.withLock({
            $0 += 1
            return $0
        }) == last {
            end()
        }
        return answer
    }

    func end() {
        willChangeValue(for: \.isFinished)
        finished.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
    }

    override func main() { mains.add() }
}

/// Ends that are announced where the engine is in the middle of something else.
@Suite("C: ends announced in unusual places", .blocking)
struct EarlyEndTests {
    @Test("what an overridden start does after the inherited one takes no slot", .contract("C6"))
    func afterSuper() {
        let queue = makeQueue(limit: 1)
        let operation = LongStart()
        let next = MainOperation()
        next.addDependency(operation)
        let after = MainOperation()
        queue.addOperations([operation, next, after], waitUntilFinished: false)
        finishes(next)
        finishes(after)
        drains(queue)
        #expect(!operation.returned.isOpen && queue.operationCount == 0)
        operation.goOn.open()
        operation.returned.wait()
    }

    @Test(
        "what ran before an overridden start is counted out when the rest of start goes on", .contract("C6", "O3"),
        arguments: [false, true])
    func countedOutBefore(withClosure: Bool) {
        let queue = makeQueue(limit: 1, suspended: true)
        if withClosure {
            for _ in 0..<3 { queue.addOperation {} }
        } else {
            for _ in 0..<3 { queue.addOperation(MainOperation()) }
        }
        let operation = LongStart { queue.waitUntilAllOperationsAreFinished() }
        queue.addOperation(operation)
        queue.isSuspended = false
        drains(queue)
        #expect(!operation.returned.isOpen && queue.operationCount == 0)
        operation.goOn.open()
        operation.returned.wait()
    }

    @Test("the operation lives until start returns, and so does its queue", .contract("C6", "Q1", "Q3", "P2"))
    func lifetimes() {
        let freed = Counter()
        let seen = Recorder<String>()
        let gates = {
            let queue = makeQueue()
            queue.name = "dropped"
            let operation = LongStart(freed: freed) { seen.append(OperationQueue.current?.name ?? "none") }
            queue.addOperation(operation)
            drains(queue)
            return (operation.goOn, operation.returned)
        }()
        #expect(freed.value == 0)
        gates.0.open()
        gates.1.wait()
        freed.wait(for: 1)
        #expect(seen.entries == ["dropped"])
    }

    @Test("the completion block runs while start goes on, and may wait for the queue", .contract("C6", "I7"))
    func completion() {
        let queue = makeQueue(limit: 1)
        let operation = LongStart()
        let ran = Gate("the completion block runs")
        operation.completionBlock = {
            queue.addOperation {}
            queue.waitUntilAllOperationsAreFinished()
            ran.open()
        }
        queue.addOperation(operation)
        ran.wait()
        #expect(!operation.returned.isOpen)
        operation.goOn.open()
        operation.returned.wait()
    }

    @Test(
        "ends announced in start and at its return from elsewhere give each slot back once",
        .contract("C6", "C11", "N2"),
        arguments: [1, 3])
    func crowd(limit: Int) {
        let queue = makeQueue(limit: limit)
        let (level, ends) = (HighWater(), Counter())
        let announcers = makeQueue(limit: 2)
        let count = Scale.of(5_000)
        for index in 0..<count {
            let operation = AsynchronousOperation { operation in
                level.inside {}
                if index % 3 == 0 { return operation.end() }
                let ended = Gate("the end is announced")
                announcers.addOperation {
                    operation.end()
                    ended.open()
                    operation.announceEnd()
                }
                if index % 3 == 1 { ended.wait() }
            }
            operation.completionBlock = { ends.add() }
            queue.addOperation(operation)
            if index % 100 == 0 { queue.addBarrierBlock { level.inside {} } }
        }
        drains(queue)
        ends.wait(for: count)
        #expect(ends.value == count && queue.operationCount == 0)
        // As many slots as ever: no more, no fewer.
        let meeting = Rendezvous(limit)
        let full = HighWater()
        for _ in 0..<limit * 2 { queue.addOperation { full.inside { _ = meeting.meet() } } }
        drains(queue)
        #expect(full.peak == limit)
    }

    @Test(
        "an operation may announce its end when it is asked whether it is ready", .contract("F1", "C9", "C12"),
        arguments: [1, 2], [true, false])
    func endsWhenAsked(asked: Int, answer: Bool) async {
        // The worker that has chosen it asks again, if the first answer was yes.
        guard asked == 1 || answer else { return }
        await #expect(processExitsWith: .success) { [asked, answer] in
            let reports = Counter()
            Misuse.isStrict = true
            Misuse.handler = { _ in reports.add() }
            let queue = makeQueue(limit: 1)
            let operation = EndsWhenAsked(asked: asked, answer: answer)
            let dependent = MainOperation()
            dependent.addDependency(operation)
            synchronously { queue.addOperations([operation, dependent], waitUntilFinished: false) }
            precondition(queue.waitUntilFinished(timeout: .seconds(60)), "hangs")
            precondition(operation.mains.value == 0 && queue.operationCount == 0 && dependent.isFinished)
            precondition(reports.value == (asked == 1 ? 1 : 0))
        }
    }

    @Test("an observer may announce the end of an operation that its cancellation makes ready", .contract("D20", "C9"))
    func endsInCallback() async {
        await #expect(processExitsWith: .success) {
            Misuse.handler = { _ in }
            let queue = makeQueue(suspended: true)
            let operation = AsynchronousOperation()
            operation.addDependency(MainOperation())
            let observation = operation.observe(\.isCancelled) { operation, _ in operation.end() }
            queue.addOperation(operation)
            operation.cancel()
            precondition(queue.waitUntilFinished(timeout: .seconds(60)), "hangs")
            precondition(operation.starts.value == 0)
            withExtendedLifetime(observation) {}
        }
    }
}

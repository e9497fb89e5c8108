import OperationEngine
import TestSupport
import Testing

/// Runs a block when it is freed.
private final class LastWords: Operation, @unchecked Sendable {
    private let words: @Sendable () -> Void

    init(_ words: @escaping @Sendable () -> Void) { self.words = words }

    deinit { words() }
}

/// An operation whose block is all that holds an object.
private func holding(_ object: LastWords) -> BlockOperation { BlockOperation { withExtendedLifetime(object) {} } }

/// Ends when it says so; counts the calls of its `start` and `main`.
private final class EndsItself: Operation, @unchecked Sendable {
    private let finished = Guarded(false)
    let starts = Counter()

    override var isFinished: Bool { finished.read() }
    override func start() { starts.add() }

    func end() {
        willChangeValue(forKey: "isFinished")
        finished.withLock { $0 = true }
        didChangeValue(forKey: "isFinished")
    }
}

/// Announces its end when it is asked for the third time whether it is ready: after it got a dependency, after it was
/// added, and when the dependency has finished.
private final class EndsWhenAskedAgain: Operation, @unchecked Sendable {
    private let asks = Guarded(0)
    private let finished = Guarded(false)

    override var isFinished: Bool { finished.read() }
    override var isReady: Bool {
        let count = asks.withLock {
            $0 += 1
            return $0
        }
        if count == 3 {
            willChangeValue(for: \.isFinished)
            finished.withLock { $0 = true }
            didChangeValue(for: \.isFinished)
        }
        return super.isReady
    }
}

/// The user code that a runner calls between two operations of a queue: observers, deinits, completion blocks. Nothing
/// is chosen before they have returned, so they may lock and wait for what they like.
@Suite("D20, I7, Q1: code of the user between two operations", .blocking)
struct UserCodeBetweenTests {
    @Test(
        "a deinit that waits for the next operation, after a closure, leaves nobody in the queue", .contract("Q1", "M9")
    )
    func deinitAfterClosure() {
        let queue = makeQueue(limit: 1, suspended: true)
        for _ in 0..<5 { queue.addOperation {} }
        let awaited = MainOperation()
        queue.addOperation(LastWords { #expect(awaited.waitUntilFinished(timeout: HangLimit.wait)) })
        queue.addOperation(awaited)
        queue.isSuspended = false
        drains(queue)
        // Workers that run another queue's closures are not the first one's.
        let other = makeQueue(limit: 4)
        let (gate, begun) = (Gate("the others go on"), Counter())
        for _ in 0..<4 {
            other.addOperation {
                begun.add()
                gate.wait()
            }
        }
        begun.wait(for: 4)
        queue.isSuspended = true
        queue.addOperation {}
        #expect(queue.operations.count == 1)
        #expect(queue.operationCount == 1)
        #expect(other.operationCount == 4)
        gate.open()
        queue.isSuspended = false
        drains(queue)
        drains(other)
        #expect(queue.operationCount == 0 && other.operationCount == 0)
    }

    @Test(
        "an observer of a queue may take a lock whose holder waits for the queue's next operation",
        .contract("D20", "D23"),
        arguments: [1, -1])
    func observerTakesLock(limit: Int) {
        let queue = makeQueue(limit: limit, suspended: true)
        let isLocked = Gate("the other thread has the lock")
        let lock = Guarded(0)
        let first = MainOperation { _ in isLocked.wait() }
        let next = MainOperation()
        let token = queue.observe(\.operationCount) { queue, _ in
            if !queue.isSuspended { lock.withLock { $0 += 1 } }
        }
        queue.addOperations([first, next], waitUntilFinished: false)
        let other = makeQueue()
        other.addOperation {
            lock.withLock { _ in
                isLocked.open()
                finishes(next)
            }
        }
        isLocked.wait()
        queue.isSuspended = false
        drains(other)
        drains(queue)
        token.invalidate()
    }

    @Test("an operation that a deinit ends before its turn is not started", .contract("C9"))
    func endedInDeinit() async {
        await #expect(processExitsWith: .success) {
            Misuse.handler = { misuse in
                guard case .finishWithoutStart = misuse else { fatalError("\(misuse)") }
            }
            Misuse.isStrict = true
            let queue = makeQueue(limit: 1, suspended: true)
            let ended = EndsItself()
            queue.addOperation(LastWords { ended.end() })
            queue.addOperation(ended)
            let last = MainOperation()
            queue.addOperation(last)
            queue.isSuspended = false
            precondition(last.waitUntilFinished(timeout: HangLimit.wait))
            precondition(queue.waitUntilFinished(timeout: HangLimit.wait))
            precondition(ended.starts.value == 0)
        }
    }

    @Test(
        "an observer waits for its queue when it hears of an operation that ended while it became ready",
        .contract("D20", "C9"))
    func endedWhileFiled() async {
        await #expect(processExitsWith: .success) {
            Misuse.handler = { misuse in
                guard case .finishWithoutStart = misuse else { fatalError("\(misuse)") }
            }
            let queue = makeQueue(limit: 1, suspended: true)
            let ended = EndsWhenAskedAgain()
            let first = MainOperation()
            ended.addDependency(first)
            let token = queue.observe(\.operationCount) { queue, _ in
                guard ended.isFinished else { return }
                precondition(queue.waitUntilFinished(timeout: HangLimit.wait))
            }
            synchronously { queue.addOperations([first, ended], waitUntilFinished: false) }
            queue.isSuspended = false
            precondition(queue.waitUntilFinished(timeout: HangLimit.wait))
            token.invalidate()
        }
    }

    @Test(
        "an observer that comes while cancelled operations end may wait for its queue when it hears of them",
        .contract("D23", "O4"))
    func observerComesWhileCancelledEnd() {
        let queue = makeQueue(limit: 1, suspended: true)
        let (token, counts) = (Guarded<Observation?>(nil), Recorder<Int>())
        let hasWaited = Gate("the observer is notified, and its wait ends")
        // No one observes the queue when it drops the operations. The deinit of what the first one captured begins to.
        queue.addOperation(
            holding(
                LastWords {
                    let new = queue.observe(\.operationCount) { queue, _ in
                        counts.append(queue.operationCount)
                        #expect(queue.waitUntilFinished(timeout: HangLimit.wait))
                        hasWaited.open()
                    }
                    token.withLock { $0 = new }
                }))
        for _ in 0..<3 { queue.addOperation(BlockOperation {}) }
        queue.cancelAllOperations()
        queue.isSuspended = false
        hasWaited.wait()
        #expect(counts.entries == [0])
        token.read()?.invalidate()
    }
}

import OperationEngine
import TestSupport
import Testing

/// The place of an operation in its queue when its end comes too early.
enum EarlyEnd: CaseIterable, Codable, Sendable {
    case suspended, waiting, behindLimit

    /// Brings `operation` there and returns what lets the queue go on.
    func bring(_ operation: Operation, into queue: OperationQueue) -> @Sendable () -> Void {
        switch self {
        case .suspended:
            queue.isSuspended = true
            queue.addOperation(operation)
            return { queue.isSuspended = false }
        case .waiting:
            operation.addDependency(MainOperation())
            queue.addOperation(operation)
            return {}
        case .behindLimit:
            queue.maxConcurrentOperationCount = 1
            let blocker = Blocker()
            blocker.occupy(queue)
            queue.addOperation(operation)
            return { blocker.release.open() }
        }
    }
}

/// Keeps its state itself, but leaves `start` to the engine.
private final class SelfReporting: Operation, @unchecked Sendable {
    let mains = Counter()
    private let finished = Guarded(false)

    override var isFinished: Bool { finished.read() }

    override func main() {
        mains.add()
        willChangeValue(for: \.isFinished)
        finished.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
    }
}

@Suite("C: asynchronous operations, the engine's own lines", .blocking)
struct AsynchronousTests {
    @Test(
        "an end before the start is reported once, wherever the operation waits", .contract("C9"),
        arguments: EarlyEnd.allCases)
    func earlyEnd(place: EarlyEnd) async {
        await #expect(processExitsWith: .success) { [place] in
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            let runs = Counter()
            let queue = makeQueue()
            let operation = AsynchronousOperation()
            let dependent = MainOperation { _ in runs.add() }
            dependent.addDependency(operation)
            let goOn = place.bring(operation, into: queue)
            let elsewhere = makeQueue()
            elsewhere.addOperation(dependent)
            queue.addOperation { runs.add() }
            operation.end()
            operation.announceEnd()
            drains(elsewhere)
            goOn()
            drains(queue)
            #expect(reports.entries.count == 1 && runs.value == 2 && operation.starts.value == 0)
            if case .finishWithoutStart = reports.entries.first {} else { Issue.record("another misuse") }
        }
    }

    @Test("ends that race with the adding and the start", .contract("C9", "C11"), arguments: [1, 2, -1])
    func earlyEndsRace(limit: Int) async {
        await #expect(processExitsWith: .success) { [limit] in
            let others = Counter()
            Misuse.handler = { misuse in
                if case .finishWithoutStart = misuse { return }
                others.add()
            }
            let (runs, completions) = (Counter(), Counter())
            let (queue, elsewhere) = (makeQueue(limit: limit), makeQueue())
            let operations = (0..<Scale.of(1_000)).map { _ in AsynchronousOperation { $0.end() } }
            let added = operations.map { _ in Guarded(false) }
            for operation in operations {
                operation.completionBlock = { completions.add() }
                let dependent = MainOperation { _ in runs.add() }
                dependent.addDependency(operation)
                elsewhere.addOperation(dependent)
            }
            onThreads(2) { thread in
                for (index, operation) in operations.enumerated() {
                    if thread == 0 {
                        queue.addOperation(operation)
                        added[index].withLock { $0 = true }
                    } else {
                        _ = added[index].wait { $0 }
                        operation.end()
                    }
                }
            }
            drains(queue)
            drains(elsewhere)
            completions.wait(for: operations.count)
            #expect(operations.allSatisfy { $0.isFinished && $0.starts.value <= 1 } && others.value == 0)
            #expect(runs.value == operations.count && completions.value == operations.count)
        }
    }

    @Test("an end announced inside start unlocks dependents elsewhere before start returns", .contract("C2", "C12"))
    func unlocksInsideStart() {
        let dependentRan = Gate("the dependent runs")
        let operation = AsynchronousOperation {
            $0.end()
            dependentRan.wait()
        }
        let dependent = MainOperation { _ in dependentRan.open() }
        dependent.addDependency(operation)
        let queues = [makeQueue(limit: 1), makeQueue(limit: 1)]
        queues[1].addOperation(dependent)
        queues[0].addOperation(operation)
        for queue in queues { drains(queue) }
        #expect(dependent.isFinished)
    }

    @Test("one that keeps its state itself under the engine's start ends once", .contract("C2"))
    func ownStateOnly() {
        let completions = Counter()
        let queue = makeQueue(limit: 1)
        let operations = (0..<200).map { _ in SelfReporting() }
        for operation in operations { operation.completionBlock = { completions.add() } }
        queue.addOperations(operations, waitUntilFinished: false)
        drains(queue)
        completions.wait(for: operations.count)
        #expect(operations.allSatisfy { $0.isFinished && $0.mains.value == 1 })
        #expect(completions.value == operations.count && queue.operationCount == 0)
    }

    @Test("one that was started by hand and has ended is refused by queues", .contract("C1", "C16", "M6", "B10"))
    func startedByHandIsRefused() async {
        await #expect(processExitsWith: .success) {
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            let queue = makeQueue()
            let operation = AsynchronousOperation()
            operation.start()
            operation.end()
            queue.addOperation(operation)
            #expect(reports.entries == [.addFinished] && queue.operationCount == 0)
            #expect(operation.starts.value == 1)
        }
    }

    @Test("the helper ends a cancelled one by its start", .contract("C7", "B12"))
    func performedCancelled() {
        let operation = DetachingOperation(.keyPath)
        operation.addDependency(MainOperation())
        #expect(!operation.performIfReady() && operation.startReturns.value == 0)
        operation.cancel()
        #expect(operation.performIfReady())
        #expect(operation.waitUntilFinished(timeout: HangLimit.wait))
        #expect(operation.mains.value == 0)
    }

    @Test("a cancelled one with a start of its own waits for a slot, one without does not", .contract("C8", "J9"))
    func cancelledInFullQueue() {
        let queue = makeQueue(limit: 1)
        let blocker = AsynchronousOperation()
        queue.addOperation(blocker)
        blocker.started.wait()
        let (own, plain) = (AsynchronousOperation(), MainOperation())
        queue.addOperations([own, plain], waitUntilFinished: false)
        own.cancel()
        plain.cancel()
        finishes(plain)
        #expect(own.starts.value == 0 && !own.isFinished)
        blocker.end()
        drains(queue)
        #expect(own.starts.value == 1 && own.isFinished)
    }

    @Test("an overridden start is found in subclasses of subclasses and in generic ones", .contract("C13", "H4"))
    func overriddenStartIsFound() {
        class Own: Operation, @unchecked Sendable {
            override func start() { super.start() }
        }
        class Below: Own, @unchecked Sendable {}
        final class Generic<Value>: Below, @unchecked Sendable {
            var value: Value?
        }
        class GenericPlain<Value>: Operation, @unchecked Sendable {
            var value: Value?
        }
        final class BelowGeneric: GenericPlain<[String]>, @unchecked Sendable {
            override func start() { super.start() }
        }
        for operation in [Own(), Below(), Generic<Int>(), BelowGeneric()] {
            operation.threadPriority = 0
            #expect(operation.effectiveThreadPriority == 0.5, "\(operation)")
        }
        for operation in [Operation(), MainOperation(), GenericPlain<Int>(), BlockOperation {}] {
            operation.threadPriority = 0
            #expect(operation.effectiveThreadPriority == ThreadFacts.effectivePriority(above: 19), "\(operation)")
        }
    }
}

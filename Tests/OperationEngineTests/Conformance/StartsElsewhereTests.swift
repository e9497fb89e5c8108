import Glibc
import OperationEngine
import OperationEngineProgress
import Synchronization
import TestSupport
import Testing

/// Has its inherited start called elsewhere, keeps `isFinished` itself, and announces its end in `main`, which goes on.
private final class EndsElsewhere: Operation, @unchecked Sendable {
    let ended = Gate("the end is announced")
    let goOn = Gate("main goes on")
    let returned = Gate("the inherited start returns")
    private let finished = Guarded(false)

    override var isFinished: Bool { finished.read() }

    override func start() {
        onNewThread {
            self.startHere()
            self.returned.open()
        }
    }

    private func startHere() { super.start() }

    override func main() {
        willChangeValue(for: \.isFinished)
        finished.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
        ended.open()
        goOn.wait()
    }
}

/// An async operation whose own `start` has the inherited one called elsewhere.
private final class AsyncElsewhere: AsyncOperation<Int>, @unchecked Sendable {
    override func start() { onNewThread { self.startHere() } }
    private func startHere() { super.start() }
}

/// Keeps `isFinished` itself; any thread may start it, and end it once its own `start` was called.
private final class LeftToOthers: Operation, @unchecked Sendable {
    private let called: Counter
    private let finished = Guarded(false)

    init(called: Counter) {
        self.called = called
        super.init()
    }

    override var isFinished: Bool { finished.read() || super.isFinished }
    override func start() { called.add() }
    func startHere() { super.start() }

    func end() {
        finished.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
    }
}

@Suite("B and C: a start that goes on elsewhere, the engine's own lines", .blocking)
struct StartsElsewhereTests {
    @Test(
        "a second inherited start while main runs elsewhere is a misuse", .contract("B5", "B9"),
        arguments: [false, true])
    func secondStart(isOnRunner: Bool) async {
        await #expect(processExitsWith: .success) { [isOnRunner] in
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            let runs = Counter()
            let (begun, goOn) = (Gate("main runs elsewhere"), Gate("main goes on"))
            let queue = makeQueue(limit: 1)
            let operation = StartsElsewhere(
                main: { _ in
                    runs.add()
                    begun.open()
                    goOn.wait()
                },
                after: { operation in
                    begun.wait()
                    if isOnRunner { operation.startHere() } else { onThreads(1) { _ in operation.startHere() } }
                    goOn.open()
                })
            queue.addOperation(operation)
            drains(queue)
            // One after the end has no effect.
            operation.startHere()
            #expect(runs.value == 1 && operation.isFinished && queue.operationCount == 0)
            #expect(reports.entries == [.startExecuting])
        }
    }

    @Test("a start by hand of one that waits in a queue is a misuse, on whichever thread it ends up", .contract("B9"))
    func byHand() async {
        await #expect(processExitsWith: .success) {
            let reports = Counter()
            Misuse.handler = { if $0 == .startInQueue { reports.add() } else { reports.add(100) } }
            let queue = makeQueue(suspended: true)
            let runs = Counter()
            let operation = StartsElsewhere { _ in runs.add() }
            queue.addOperation(operation)
            operation.startHere()
            operation.start()
            reports.wait(for: 2)
            #expect(reports.value == 2 && runs.value == 0 && !operation.isFinished)
            queue.isSuspended = false
            drains(queue)
            #expect(reports.value == 2 && runs.value == 1 && operation.starts.value == 2)
        }
    }

    @Test("started by hand in no queue, it may go on elsewhere too, and unlocks its dependents", .contract("B9"))
    func inNoQueue() {
        let operation = StartsElsewhere()
        let dependent = MainOperation()
        dependent.addDependency(operation)
        operation.start()
        finishes(operation)
        makeQueue().addOperation(dependent)
        finishes(dependent)
    }

    @Test("observers hear what they hear of any run", .contract("B9", "D6", "D13"), arguments: [false, true])
    func observed(isCancelled: Bool) {
        let log = Recorder<String>()
        let goOn = Gate("start goes on")
        let operation = StartsElsewhere(before: { _ in goOn.wait() })
        let tokens = [
            operation.observe(\.isExecuting, options: .new) { log.append("executing \($1.newValue ?? false)") },
            operation.observe(\.isFinished, options: .new) { log.append("finished \($1.newValue ?? false)") },
        ]
        let queue = makeQueue(limit: 1)
        queue.addOperation(operation)
        operation.starts.wait(for: 1)
        if isCancelled { operation.cancel() }
        goOn.open()
        drains(queue)
        let run = isCancelled ? [] : ["executing true", "executing false"]
        #expect(log.entries == run + ["finished true"])
        withExtendedLifetime(tokens) {}
    }

    @Test("the thread priority is not applied", .contract("H4", "H9", "C13"))
    func priority() {
        let nices = Recorder<Int32>()
        // The other thread is one of Dispatch's, and need not have the main thread's nice value.
        let operation = StartsElsewhere(
            main: { _ in nices.append(ThreadFacts.nice) }, before: { _ in nices.append(ThreadFacts.nice) })
        operation.threadPriority = 0
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(nices.entries.count == 2 && nices.entries[0] == nices.entries[1])
    }

    @Test("it is counted by the end of main, whichever thread runs it", .contract("B9", "P12"))
    func progress() {
        let queue = makeQueue()
        queue.progress.totalUnitCount = 10
        let operations = (0..<5).map { _ in StartsElsewhere() }
        queue.addOperations(operations, waitUntilFinished: true)
        #expect(queue.progress.completedUnitCount == 5)
        drains(queue)
    }

    @Test(
        "an end announced in a main elsewhere frees the slot; the queue lives until main has returned",
        .contract("C6", "P12", "Q3"))
    func endAnnouncedElsewhere() {
        weak var dropped: OperationQueue?
        let operation = EndsElsewhere()
        let next = MainOperation()
        let progress = {
            let queue = makeQueue(limit: 1)
            dropped = queue
            queue.progress.totalUnitCount = 2
            queue.addOperations([operation, next], waitUntilFinished: false)
            operation.ended.wait()
            drains(queue)
            return queue.progress
        }()
        #expect(next.isFinished && !operation.returned.isOpen && dropped != nil)
        operation.goOn.open()
        operation.returned.wait()
        eventually("the queue is freed") { dropped == nil }
        #expect(progress.completedUnitCount == 2)
    }

    @Test("ends announced as start goes on elsewhere, in queues that are gone with it", .contract("C6", "P12", "Q3"))
    func endAgainstStart() {
        let called = Counter()
        let rounds = Scale.of(20_000)
        let operations = (0..<rounds).map { _ in LeftToOthers(called: called) }
        for operation in operations {
            let queue = makeQueue()
            _ = queue.progress
            queue.addOperation(operation)
        }
        called.wait(for: rounds)
        let arrivals = Atomic(0)
        onThreads(2) { thread in
            for (index, operation) in operations.enumerated() {
                // In step, so that the two meet at every operation.
                arrivals.add(1, ordering: .relaxed)
                while arrivals.load(ordering: .relaxed) < 2 * (index + 1) { sched_yield() }
                if thread == 0 { operation.startHere() } else { operation.end() }
            }
        }
        #expect(operations.allSatisfy { $0.ending != nil })
    }

    @Test("an async operation whose start goes on elsewhere", .contract("B9", "X1"))
    func async() throws {
        let queue = makeQueue(limit: 1)
        let operations = (0..<20).map { number in AsyncElsewhere { number } }
        queue.addOperations(operations, waitUntilFinished: false)
        drains(queue)
        #expect(try operations.map { try $0.result?.get() } == Array(0..<20))
    }

    @Test(
        "a storm of starts elsewhere, cancellations and second starts", .contract("B9", "C6", "J13"),
        arguments: [1, 3, -1])
    func storm(limit: Int) async {
        await #expect(processExitsWith: .success) { [limit] in
            let strays = Counter()
            Misuse.handler = { if $0 != .startExecuting { strays.add() } }
            let queue = makeQueue(limit: limit)
            let (level, completions) = (HighWater(), Counter())
            let operations = (0..<Scale.of(4_000)).map { index in
                StartsElsewhere(
                    main: { _ in level.inside {} },
                    before: { if index % 5 == 0 { onNewThread($0.startHere) } },
                    after: { if index % 3 == 0 { $0.cancel() } })
            }
            for operation in operations { operation.completionBlock = { completions.add() } }
            onThreads(2) { thread in
                for (index, operation) in operations.enumerated() {
                    if thread == 0 { queue.addOperation(operation) } else if index % 4 == 0 { operation.cancel() }
                }
            }
            drains(queue)
            completions.wait(for: operations.count)
            #expect(operations.allSatisfy { $0.isFinished && $0.starts.value == 1 } && queue.operationCount == 0)
            #expect(strays.value == 0 && completions.value == operations.count)
            if limit > 0 { #expect(level.peak <= limit) }
        }
    }
}

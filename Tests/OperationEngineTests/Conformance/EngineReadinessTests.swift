import OperationEngine
import TestSupport
import Testing

@Suite("C and F: the engine's own lines", .blocking)
struct EngineReadinessTests {
    @Test("an override without super's readiness bypasses the dependencies", .contract("F2"))
    func bypassesDependencies() {
        let queue = makeQueue()
        let operation = HeldOperation(obeysDependencies: false)
        operation.addDependency(MainOperation())
        queue.addOperation(operation)
        operation.allow()
        drains(queue)
        #expect(operation.runs.value == 1)
    }

    @Test("readiness that was taken back before the choice keeps the operation waiting", .contract("F5", "F7"))
    func takenBack() {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let operation = HeldOperation()
        operation.allow()
        queue.addOperation(operation)
        let last = MainOperation()
        queue.addOperation(last)
        operation.allow(false)
        blocker.release.open()
        finishes(last)
        #expect(operation.runs.value == 0 && !operation.isFinished)
        operation.allow()
        drains(queue)
        #expect(operation.runs.value == 1)
    }

    @Test("a storm of announcements: whatever the last one says holds", .contract("F5", "F7"))
    func flapping() {
        let queue = makeQueue(limit: 2)
        let operations = (0..<Scale.of(1_000)).map { _ in HeldOperation() }
        onThreads(3) { thread in
            for operation in operations {
                switch thread {
                case 0: queue.addOperation(operation)
                default:
                    operation.allow()
                    operation.allow(false)
                }
            }
        }
        for operation in operations { operation.allow() }
        drains(queue)
        #expect(operations.allSatisfy { $0.runs.value == 1 })
    }

    @Test("in no queue, the removal of the last unfinished dependency asks", .contract("F8", "E13"))
    func askedByRemoval() {
        let operation = SelfStartingOperation()
        let dependencies = [MainOperation(), MainOperation()]
        dependencies.forEach(operation.addDependency)
        operation.removeDependency(dependencies[0])
        #expect(!operation.isFinished)
        operation.removeDependency(dependencies[1])
        #expect(operation.isFinished && operation.threads.entries == [ThreadFacts.id])
    }

    @Test("in no queue, an announcement in any spelling asks", .contract("F8", "D2"))
    func askedByAnySpelling() {
        let operation = SelfStartingOperation(isAllowed: false)
        operation.didChangeValue(forKey: "ready")
        operation.didChangeValue(for: \.isReady)
        operation.didChangeValue(for: \.isCancelled)
        #expect(operation.asks.value == 2)
    }

    @Test(
        "who is asked may wait for another dependent of the same operation", .contract("F8", "D20"),
        arguments: [1, 3, 100])
    func waitsWhenAsked(siblings: Int) {
        final class WaitsForSiblings: Operation, @unchecked Sendable {
            let siblings = Guarded<[Operation]>([])
            override var isReady: Bool {
                if super.isReady {
                    for sibling in siblings.read() { sibling.waitUntilFinished() }
                }
                return super.isReady
            }
        }
        let queue = makeQueue(limit: 2)
        let dependency = MainOperation()
        let others = (0..<siblings).map { _ in MainOperation() }
        let asked = WaitsForSiblings()
        var dependents: [Operation] = others
        dependents.insert(asked, at: siblings / 2)
        for dependent in dependents { dependent.addDependency(dependency) }
        asked.siblings.withLock { $0 = others }
        queue.addOperations(others + [dependency], waitUntilFinished: false)
        drains(queue)
        #expect(others.allSatisfy { $0.isFinished } && asked.isReady)
        asked.siblings.withLock { $0 = [] }
    }

    @Test("one that was claimed for a batch that is refused is asked afterwards", .contract("F8", "M5"))
    func askedAfterRefusal() async {
        await #expect(processExitsWith: .success) {
            Misuse.handler = { _ in }
            let operation = SelfStartingOperation()
            operation.addDependency(MainOperation())
            let asks = operation.asks.value
            let finished = MainOperation()
            finished.start()
            synchronously { makeQueue().addOperations([operation, finished], waitUntilFinished: false) }
            #expect(operation.asks.value == asks + 1 && !operation.isFinished)
        }
    }

    @Test("a start inside an isReady that a start asks is a misuse, and has no effect", .contract("F8", "B5"))
    func startsWhenStarted() async {
        final class Unguarded: Operation, @unchecked Sendable {
            let runs = Counter()
            override var isReady: Bool {
                if super.isReady, !isExecuting, !isFinished { start() }
                return super.isReady
            }
            override func main() { runs.add() }
        }
        await #expect(processExitsWith: .success) {
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            let dependency = MainOperation()
            let operation = Unguarded()
            operation.addDependency(dependency)
            dependency.start()
            #expect(operation.isFinished && operation.runs.value == 1 && reports.entries == [.startExecuting])
        }
    }

    @Test(
        "a start from the isReady that a queue asks is a misuse, whenever it is asked", .contract("B9", "F5"),
        arguments: [1, 2])
    func startsWhenQueueAsks(asked last: Int) async {
        final class StartsWhenAsked: Operation, @unchecked Sendable {
            let (asks, runs) = (Counter(), Counter())
            let last: Int
            init(asked last: Int) { self.last = last }
            override var isReady: Bool {
                asks.add()
                if asks.value == last { start() }
                return true
            }
            override func main() { runs.add() }
        }
        await #expect(processExitsWith: .success) { [last] in
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            let queue = makeQueue(limit: 1)
            let operation = StartsWhenAsked(asked: last)
            let completed = Counter()
            operation.completionBlock = { completed.add() }
            queue.addOperation(operation)
            queue.addOperation(MainOperation())
            drains(queue)
            completed.wait(for: 1)
            #expect(reports.entries == [.startInQueue] && operation.runs.value == 1 && completed.value == 1)
        }
    }

    @Test("without the announcement the queue keeps the operation, its slot and its dependents", .contract("C3", "C5"))
    func queueKeepsUnannounced() {
        let runs = Counter()
        let serial = makeQueue(limit: 1)
        let operation = AsynchronousOperation()
        let dependent = MainOperation { _ in runs.add() }
        dependent.addDependency(operation)
        serial.addOperation(operation)
        serial.addOperation { runs.add() }
        operation.started.wait()
        let elsewhere = makeQueue()
        elsewhere.addOperation(dependent)
        operation.endSilently()
        settle()
        #expect(runs.value == 0 && !dependent.isReady && serial.operationCount == 2)
        operation.announceEnd()
        drains(serial)
        drains(elsewhere)
        #expect(runs.value == 2)
    }

    @Test("an end announced before the start is reported; the operation leaves its queue and unlocks", .contract("C9"))
    func endedBeforeStart() async {
        await #expect(processExitsWith: .success) {
            let reports = Counter()
            Misuse.handler = { misuse in
                if case .finishWithoutStart = misuse { reports.add() } else { reports.add(100) }
            }
            let queue = makeQueue(suspended: true)
            let operation = AsynchronousOperation()
            let dependent = MainOperation()
            dependent.addDependency(operation)
            queue.addOperation(operation)
            operation.end()
            #expect(reports.value == 1 && dependent.isReady)
            queue.isSuspended = false
            drains(queue)
            #expect(operation.starts.value == 0 && queue.operationCount == 0)
        }
    }

    @Test("by default that is printed and the program goes on", .contract("C9"))
    func endedBeforeStartIsPrinted() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let queue = makeQueue(suspended: true)
            let operation = AsynchronousOperation()
            operation.name = "early bird"
            queue.addOperation(operation)
            operation.end()
            queue.isSuspended = false
            drains(queue)
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains("early bird"))
    }

    @Test("the thread priority is not applied to an overridden start", .contract("C13", "H9"))
    func ownStart() {
        let nices = Recorder<Int32>()
        let operation = AsynchronousOperation {
            nices.append(ThreadFacts.nice)
            $0.end()
        }
        operation.threadPriority = 0
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(nices.entries == [ThreadFacts.processNice])
    }

    @Test("performed by the helper, an asynchronous operation is started and goes on", .contract("C6", "B12"))
    func performed() {
        let operation = AsynchronousOperation()
        #expect(operation.performIfReady())
        operation.started.wait()
        #expect(!operation.isFinished && operation.isExecuting)
        operation.end()
        #expect(operation.waitUntilFinished(timeout: HangLimit.wait))
    }
}

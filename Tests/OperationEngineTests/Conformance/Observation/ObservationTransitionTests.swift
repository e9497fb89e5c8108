import OperationEngine
import TestSupport
import Testing

@Suite("D: what observers hear of an operation's life", .blocking)
struct ObservationTransitionTests {
    @Test("a run in a queue is executing, not executing, finished, and nothing of readiness", .contract("D6"))
    func run() {
        let queue = makeQueue()
        let pairs = (0..<Scale.of(200)).map { _ in (operation: MainOperation(), log: ChangeLog()) }
        for pair in pairs {
            pair.log.watch(pair.operation)
            queue.addOperation(pair.operation)
        }
        drains(queue)
        #expect(pairs.allSatisfy { $0.log.entries == ["executing=1", "executing=0", "finished=1"] })
    }

    @Test("so is a run by hand", .contract("D6"))
    func manualRun() {
        let operation = MainOperation()
        let log = ChangeLog()
        log.watch(operation)
        operation.start()
        #expect(log.entries == ["executing=1", "executing=0", "finished=1"])
    }

    @Test("a second start is not heard of", .contract("D6", "B4"))
    func secondStart() {
        let operation = MainOperation()
        operation.start()
        let log = ChangeLog()
        log.watch(operation, options: [.new, .prior])
        operation.start()
        #expect(log.entries == [])
    }

    @Test("the finish is one pair inside the other", .contract("D7"))
    func nestedPairs() {
        let log = ChangeLog()
        let operation = MainOperation { _ in log.append("main") }
        log.watch(operation, options: [.new, .prior])
        operation.start()
        #expect(
            log.entries == [
                "will executing", "executing=1", "main", "will finished", "will executing", "executing=0", "finished=1",
            ])
    }

    @Test("before the finish both values are the old ones", .contract("D7"))
    func willPhase() {
        let operation = MainOperation()
        let seen = Recorder<StateFlags>()
        let tokens = [\Operation.isExecuting, \Operation.isFinished].map {
            operation.observe($0, options: .prior) { operation, change in
                if change.isPrior { seen.append(StateFlags(operation)) }
            }
        }
        operation.start()
        #expect(seen.entries.map(\.executing) == [false, true, true])
        #expect(seen.entries.allSatisfy { !$0.finished })
        withExtendedLifetime(tokens) {}
    }

    @Test("after the finish both values are the new ones, and they are never true together", .contract("D8", "A3"))
    func didPhase() {
        let operation = MainOperation()
        let seen = Recorder<StateFlags>()
        let tokens = [\Operation.isExecuting, \Operation.isFinished].map {
            operation.observe($0) { operation, _ in seen.append(StateFlags(operation)) }
        }
        operation.start()
        #expect(seen.entries.map(\.executing) == [true, false, false])
        #expect(seen.entries.map(\.finished) == [false, true, true])
        #expect(seen.entries.allSatisfy { $0.ready })
        withExtendedLifetime(tokens) {}
    }

    @Test("values land, then the dependent is ready, then the finisher's observers hear", .contract("D9", "D15"))
    func order() {
        let queue = makeQueue(limit: 1)
        let log = ChangeLog()
        let (first, second) = (MainOperation(), MainOperation())
        second.addDependency(first)
        log.watch(first, as: "A")
        log.watch(second, as: "B")
        let finishedBefore = Guarded(false)
        let token = second.observe(\.isReady) { _, _ in finishedBefore.withLock { $0 = first.isFinished } }
        queue.addOperations([second, first], waitUntilFinished: false)
        drains(queue)
        #expect(
            log.entries == [
                "A.executing=1", "B.ready=1", "A.executing=0", "A.finished=1", "B.executing=1", "B.executing=0",
                "B.finished=1",
            ])
        #expect(finishedBefore.read())
        withExtendedLifetime(token) {}
    }

    @Test("the order up to the dependent's readiness holds across queues", .contract("D9"))
    func orderAcrossQueues() {
        for _ in 0..<Scale.of(200) {
            let log = ChangeLog()
            let (first, second) = (MainOperation(), MainOperation())
            second.addDependency(first)
            log.watch(first, as: "A")
            log.watch(second, as: "B")
            let queues = [makeQueue(), makeQueue()]
            queues[1].addOperation(second)
            queues[0].addOperation(first)
            for queue in queues { drains(queue) }
            let entries = log.entries
            #expect(Array(entries.prefix(2)) == ["A.executing=1", "B.ready=1"])
            #expect(
                entries.filter { $0.hasPrefix("B") } == [
                    "B.ready=1", "B.executing=1", "B.executing=0", "B.finished=1",
                ])
            #expect(entries.filter { $0.hasPrefix("A") } == ["A.executing=1", "A.executing=0", "A.finished=1"])
        }
    }

    @Test(
        "cancelling a waiting one is heard before cancel returns; the finish once it is started",
        .contract("D10", "D13"))
    func cancelWaiting() {
        let queue = makeQueue(suspended: true)
        let log = ChangeLog()
        let (never, operation) = (MainOperation(), MainOperation())
        operation.addDependency(never)
        log.watch(operation)
        queue.addOperation(operation)
        operation.cancel()
        #expect(log.entries == ["cancelled=1", "ready=1"])
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == ["cancelled=1", "ready=1", "finished=1"])
    }

    @Test("so is one in no queue", .contract("D10"))
    func cancelWaitingAlone() {
        let log = ChangeLog()
        let (never, operation) = (MainOperation(), MainOperation())
        operation.addDependency(never)
        log.watch(operation, options: [.new, .prior])
        operation.cancel()
        #expect(log.entries == ["will cancelled", "will ready", "cancelled=1", "ready=1"])
    }

    @Test("cancelling a ready one is heard as the cancellation only", .contract("D11"))
    func cancelReady() {
        let log = ChangeLog()
        let operation = MainOperation()
        log.watch(operation)
        operation.cancel()
        #expect(log.entries == ["cancelled=1"])
    }

    @Test("cancelling an executing one, too", .contract("D11"))
    func cancelExecuting() {
        let log = ChangeLog()
        let operation = MainOperation { $0.cancel() }
        log.watch(operation)
        operation.start()
        #expect(log.entries == ["executing=1", "cancelled=1", "executing=0", "finished=1"])
    }

    @Test("a second cancel, and one after the finish, are not heard", .contract("D12", "J2"))
    func cancelWithoutEffect() {
        let log = ChangeLog()
        let (operation, finished) = (MainOperation(), MainOperation())
        finished.start()
        log.watch(operation, options: [.new, .prior])
        log.watch(finished, options: [.new, .prior])
        operation.cancel()
        operation.cancel()
        finished.cancel()
        #expect(log.entries == ["will cancelled", "cancelled=1"])
        #expect(!finished.isCancelled)
    }

    @Test("of cancels on many threads, one is heard", .contract("D12"))
    func cancelRace() {
        let operations = (0..<Scale.of(500)).map { _ in MainOperation() }
        let heard = Counter()
        let tokens = operations.map { $0.observe(\.isCancelled) { _, _ in heard.add() } }
        onThreads(3) { _ in
            for operation in operations { operation.cancel() }
        }
        #expect(heard.value == operations.count)
        withExtendedLifetime(tokens) {}
    }

    @Test("cancelled before start, start is heard as the finish only", .contract("D13"))
    func cancelledBeforeStart() {
        let log = ChangeLog()
        let operation = MainOperation()
        operation.cancel()
        log.watch(operation, options: [.new, .prior])
        operation.start()
        #expect(log.entries == ["will finished", "finished=1"])
    }

    @Test("and in a queue", .contract("D13"))
    func cancelledBeforeStartInQueue() {
        let log = ChangeLog()
        let operation = MainOperation()
        operation.cancel()
        log.watch(operation)
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(log.entries == ["finished=1"])
    }

    @Test("a dependency is heard of, and the readiness it takes and gives back", .contract("D14"))
    func dependencies() {
        let (operation, left, right) = (MainOperation(), MainOperation(), MainOperation())
        let done = MainOperation()
        done.start()
        let log = ChangeLog()
        log.watch(operation)
        let tokens = [
            operation.observe(\.dependencies, options: [.new, .old]) { _, change in
                log.append("\(change.oldValue?.count ?? -1)→\(change.newValue?.count ?? -1)")
            }
        ]
        operation.addDependency(left)
        operation.addDependency(right)
        operation.addDependency(done)
        operation.removeDependency(left)
        operation.removeDependency(right)
        operation.removeDependency(right)
        #expect(log.entries == ["ready=0", "0→1", "1→2", "2→3", "3→2", "ready=1", "2→1"])
        withExtendedLifetime(tokens) {}
    }

    @Test("on a cancelled operation a dependency changes no readiness", .contract("D14"))
    func dependencyOfCancelled() {
        let (operation, never) = (MainOperation(), MainOperation())
        operation.cancel()
        let log = ChangeLog()
        log.watch(operation)
        operation.addDependency(never)
        operation.removeDependency(never)
        #expect(log.entries == [])
    }

    @Test("of many dependencies that finish at once, the last makes it ready, once", .contract("D15"))
    func readyOnce() {
        for _ in 0..<Scale.of(300) {
            let dependent = MainOperation()
            let dependencies = (0..<8).map { _ in MainOperation() }
            for dependency in dependencies { dependent.addDependency(dependency) }
            let log = ChangeLog()
            log.watch(dependent, options: [.new, .old])
            let queue = makeQueue(limit: 4)
            queue.addOperations(dependencies, waitUntilFinished: false)
            drains(queue)
            #expect(log.entries == ["ready=1"])
            log.end()
        }
    }
}

import Dispatch
import OperationEngine
import TestSupport
import Testing

@Suite("P5, P6: underlying queues", .blocking)
struct UnderlyingQueueTests {
    private func concurrent() -> DispatchQueue { DispatchQueue(label: "concurrent", attributes: .concurrent) }

    @Test("readiness, priorities and suspension decide as on the engine's threads", .contract("P5", "G4", "E3"))
    func order() {
        let (queue, log) = (makeQueue(suspended: true), Recorder<Int>())
        queue.underlyingQueue = DispatchQueue(label: "serial")
        let operations = numbered(7, into: log)
        let priorities: [Operation.QueuePriority] = [.veryLow, .veryHigh, .normal, .high, .low, .veryHigh, .normal]
        for (operation, priority) in zip(operations, priorities) { operation.queuePriority = priority }
        operations[1].addDependency(operations[0])
        queue.addOperations(operations, waitUntilFinished: false)
        let turn = Gate("the dispatch queue goes on")
        queue.underlyingQueue?.async { turn.open() }
        turn.wait()
        #expect(log.entries.isEmpty)
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [5, 3, 2, 6, 4, 0, 1])
    }

    @Test(
        "all cancelled by one call, they end in the order of adding, whatever their priorities", .contract("J10", "J9"),
        arguments: [0, 3, 6], [false, true])
    func cancelledInOrder(listed: Int, behindBarrier: Bool) {
        final class Numbered: Operation, @unchecked Sendable {
            let (number, log): (Int, Recorder<Int>)
            init(_ number: Int, _ log: Recorder<Int>) { (self.number, self.log) = (number, log) }
            deinit { log.append(number) }
        }
        let (queue, log) = (makeQueue(suspended: true), Recorder<Int>())
        queue.underlyingQueue = DispatchQueue(label: "serial")
        for number in 0..<6 {
            let operation = Numbered(number, log)
            operation.queuePriority = [.high, .veryLow, .normal][number % 3]
            queue.addOperation(operation)
            if number == 1, behindBarrier { queue.addBarrierBlock {} }
            // Takes them out of the inbox.
            if number + 1 == listed { #expect(queue.operations.count == listed) }
        }
        queue.cancelAllOperations()
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [0, 1, 2, 3, 4, 5])
    }

    @Test(
        "cancelled by one call, with and without calls of their own, they are listed in the order of adding",
        .contract("J10", "M9"))
    func cancelledListedInOrder() {
        final class Starting: Operation, @unchecked Sendable {
            override func start() { super.start() }
        }
        let queue = makeQueue(suspended: true)
        let operations = (0..<6).map { $0 % 2 == 0 ? BlockOperation {} : Starting() }
        for operation in operations { queue.addOperation(operation) }
        queue.cancelAllOperations()
        #expect(queue.operations == operations)
        #expect(operations.allSatisfy { $0.isCancelled && !$0.isFinished })
        queue.isSuspended = false
        drains(queue)
        #expect(operations.allSatisfy { $0.isFinished })
    }

    @Test("blocked operations of a concurrent one meet up to the limit", .contract("P6"), arguments: [1, 2])
    func limitHolds(limit: Int) {
        let (queue, level) = (makeQueue(limit: limit), HighWater())
        queue.underlyingQueue = concurrent()
        let dependency = MainOperation()
        let dependents = (0..<Scale.of(2_000)).map { index in
            MainOperation { _ in level.inside { if index % 7 == 0 { _ = ThreadFacts.count } } }
        }
        for dependent in dependents { dependent.addDependency(dependency) }
        queue.addOperations(dependents + [dependency], waitUntilFinished: false)
        drains(queue)
        #expect(level.peak <= limit)
        #expect(dependents.allSatisfy { $0.isFinished })
    }

    @Test("a lease of the target before chooses nothing on it", .contract("P5"), arguments: [false, true])
    func formerTarget(startsOnPool: Bool) {
        let key = DispatchSpecificKey<Int>()
        let targets = (0..<3).map { index in
            let target = index == 1 ? concurrent() : DispatchQueue(label: "serial \(index)")
            target.setSpecific(key: key, value: index)
            return target
        }
        let (queue, misplaced) = (makeQueue(), Counter())
        for round in 0..<Scale.of(3_000) {
            // The last operation has left the queue, but who ran it may still be about to choose the next one.
            let index = (round + (startsOnPool ? 3 : 0)) % 4
            queue.underlyingQueue = index == 3 ? nil : targets[index]
            for _ in 0..<3 {
                queue.addOperation {
                    if DispatchQueue.getSpecific(key: key) != (index == 3 ? nil : index) { misplaced.add() }
                }
            }
            queue.waitUntilAllOperationsAreFinished()
        }
        #expect(misplaced.value == 0)
    }

    @Test("a lease that lies on the target before, behind work without end, holds nothing up", .contract("P5"))
    func formerTargetIsStuck() {
        for _ in 0..<20 {
            let (queue, target, stuck) = (makeQueue(), DispatchQueue(label: "stuck"), Gate("the target goes on"))
            defer { stuck.open() }
            let second = MainOperation()
            queue.underlyingQueue = target
            queue.addOperation {
                // In the target now: this lease, the gate, and behind it the lease that the second one calls for.
                target.async { stuck.wait() }
                queue.addOperation(second)
            }
            // This lease takes the second one too, unless it has lasted too long by then: then once again.
            guard second.waitUntilFinished(timeout: .seconds(1)) else { continue }
            drains(queue)
            queue.underlyingQueue = DispatchQueue(label: "free")
            let third = MainOperation()
            queue.addOperation(third)
            finishes(third)
            return
        }
        Issue.record("no lease took two operations in 20 rounds")
    }

    @Test("other work of the dispatch queue has its turn between operations", .contract("P5"))
    func shares() {
        let (queue, target, runs) = (makeQueue(suspended: true), DispatchQueue(label: "serial"), Counter())
        queue.underlyingQueue = target
        for _ in 0..<1_000 { queue.addOperation { runs.add() } }
        let hold = Gate("the dispatch queue is held")
        target.async { hold.wait() }
        queue.isSuspended = false
        let seen = Recorder<Int>()
        target.async { seen.append(runs.value) }
        hold.open()
        drains(queue)
        target.sync {}
        #expect(seen.entries.count == 1 && seen.entries[0] <= 16)
    }

    @Test("current in an operation, in all blocks of one, and in its completion block", .contract("P2", "K2"))
    func current() {
        for underlying in [nil, DispatchQueue(label: "serial"), concurrent()] {
            let queue = makeQueue()
            queue.underlyingQueue = underlying
            let (seen, completed) = (Recorder<Bool>(), Gate("the completion block ran"))
            let operation = BlockOperation()
            let meeting = Rendezvous(3)
            for _ in 0..<3 {
                operation.addExecutionBlock {
                    seen.append(OperationQueue.current === queue)
                    meeting.meet()
                    seen.append(OperationQueue.current === queue)
                }
            }
            operation.completionBlock = {
                seen.append(OperationQueue.current == nil)
                completed.open()
            }
            queue.addOperation(operation)
            completed.wait()
            #expect(seen.entries == Array(repeating: true, count: 7))
        }
    }

    @Test("completion blocks run on the engine's threads, and may wait for the queue", .contract("I4", "I7"))
    func completionBlock() {
        let key = DispatchSpecificKey<Bool>()
        let (queue, target, done) = (makeQueue(limit: 1), DispatchQueue(label: "serial"), Counter())
        target.setSpecific(key: key, value: true)
        queue.underlyingQueue = target
        for _ in 0..<50 {
            let operation = MainOperation()
            operation.completionBlock = {
                if DispatchQueue.getSpecific(key: key) == nil { done.add() }
                let next = MainOperation()
                queue.addOperation(next)
                next.waitUntilFinished()
            }
            queue.addOperation(operation)
        }
        done.wait(for: 50)
        drains(queue)
    }

    @Test("a queue dropped in flight runs its operations on its underlying queue, and goes", .contract("Q3"))
    func dropped() {
        let (freed, runs) = (Counter(), Counter())
        for round in 0..<Scale.of(200) {
            weak var queue: OperationQueue?
            do {
                let own = makeQueue(limit: round % 3 == 0 ? -1 : round % 3)
                own.underlyingQueue = round % 2 == 0 ? concurrent() : DispatchQueue(label: "serial")
                for _ in 0..<10 { own.addOperation(CountedOperation(freed: freed) { runs.add() }) }
                queue = own
            }
            eventually("the queue is released") { queue == nil }
        }
        #expect(runs.value == 10 * Scale.of(200))
        freed.wait(for: 10 * Scale.of(200))
    }

    @Test("a wait inside of an operation gives its place up, as in the pool", .contract("P5", "O6"))
    func waitsInside() {
        let (queue, runs) = (makeQueue(), Counter())
        queue.underlyingQueue = concurrent()
        let others = makeQueue(limit: 1)
        for _ in 0..<100 {
            queue.addOperation {
                let inner = MainOperation { _ in runs.add() }
                others.addOperation(inner)
                inner.waitUntilFinished()
            }
        }
        drains(queue)
        #expect(runs.value == 100)
    }

    @Test("cancelling all, many times, while others add", .contract("J10", "J9"))
    func cancelStorm() {
        let queue = makeQueue(limit: 2)
        queue.underlyingQueue = concurrent()
        let operations = Recorder<Operation>()
        onThreads(3) { thread in
            for index in 0..<Scale.of(1_000) {
                if thread == 2 {
                    queue.cancelAllOperations()
                } else {
                    let operation = MainOperation()
                    operation.threadPriority = index % 3 == 0 ? 0.2 : 0.5
                    operations.append(operation)
                    queue.addOperation(operation)
                }
            }
        }
        drains(queue)
        #expect(operations.entries.allSatisfy { $0.isFinished })
        #expect(operations.entries.count == 2 * Scale.of(1_000))
    }
}

/// Nice values are expected relative to the process's own, whatever that is.
@Suite("P13, H4: quality of service", .blocking)
struct QualityOfServiceTests {
    /// The nice value of the main thread, which counts as 0.
    private let normal = ThreadFacts.processNice

    private func niceInMain(
        of operation: (Recorder<Int32>) -> Operation, in queue: OperationQueue
    ) -> [Int32] {
        let nices = Recorder<Int32>()
        queue.addOperation(operation(nices))
        drains(queue)
        return nices.entries
    }

    private func plain(_ change: @escaping (Operation) -> Void = { _ in }) -> (Recorder<Int32>) -> Operation {
        { nices in
            let operation = MainOperation { _ in nices.append(ThreadFacts.nice) }
            change(operation)
            return operation
        }
    }

    @Test("the operation's quality sets main's nice value; else the queue's does", .contract("P13"))
    func nice() {
        let queue = makeQueue()
        #expect(niceInMain(of: plain { $0.qualityOfService = .background }, in: queue) == [ThreadFacts.nice(above: 10)])
        #expect(niceInMain(of: plain { $0.qualityOfService = .utility }, in: queue) == [ThreadFacts.nice(above: 5)])
        #expect(niceInMain(of: plain { $0.qualityOfService = .userInteractive }, in: queue) == [normal])
        #expect(niceInMain(of: plain(), in: queue) == [normal])
        queue.qualityOfService = .background
        #expect(niceInMain(of: plain(), in: queue) == [ThreadFacts.nice(above: 10)])
        #expect(niceInMain(of: plain { $0.qualityOfService = .utility }, in: queue) == [ThreadFacts.nice(above: 5)])
        #expect(niceInMain(of: plain { $0.qualityOfService = .userInitiated }, in: queue) == [normal])
        queue.qualityOfService = .default
        #expect(niceInMain(of: plain(), in: queue) == [normal])
    }

    @Test("a thread priority of one's own goes before any quality", .contract("P13", "H2"))
    func threadPriority() {
        let queue = makeQueue()
        queue.qualityOfService = .background
        #expect(niceInMain(of: plain { $0.threadPriority = 0.5 }, in: queue) == [normal])
        let both: (Operation) -> Void = {
            $0.threadPriority = 0
            $0.qualityOfService = .userInitiated
        }
        #expect(niceInMain(of: plain(both), in: queue) == [ThreadFacts.nice(above: 19)])
        let operation = Operation()
        operation.qualityOfService = .background
        #expect(operation.effectiveThreadPriority == ThreadFacts.effectivePriority(above: 10))
        operation.qualityOfService = .default
        #expect(operation.effectiveThreadPriority == 0.5)
    }

    @Test("an overridden start runs at the main thread's nice value whatever the quality", .contract("P13", "H4"))
    func overriddenStart() {
        final class OwnStart: Operation, @unchecked Sendable {
            private let nices: Recorder<Int32>
            init(_ nices: Recorder<Int32>) { self.nices = nices }
            override func start() {
                nices.append(ThreadFacts.nice)
                super.start()
            }
        }
        let queue = makeQueue()
        queue.qualityOfService = .background
        #expect(niceInMain(of: { OwnStart($0) }, in: queue) == [normal])
        let own: (Recorder<Int32>) -> Operation = {
            let operation = OwnStart($0)
            operation.qualityOfService = .background
            return operation
        }
        #expect(niceInMain(of: own, in: queue) == [normal])
    }

    @Test(
        "on an underlying queue neither thread priority nor quality is applied", .contract("H4", "P13"),
        arguments: [-1, 1, 3])
    func notOnUnderlying(limit: Int) {
        let queue = makeQueue(limit: limit)
        queue.qualityOfService = .background
        let serial = DispatchQueue(label: "serial")
        queue.underlyingQueue = serial
        // Dispatch's threads need not have the main thread's: where it may, it sets nice values that are not relative
        // to it.
        let (nices, ran) = (Recorder<Int32>(), Gate())
        serial.async {
            nices.append(ThreadFacts.nice)
            ran.open()
        }
        ran.wait()
        let dispatchs = nices.entries
        #expect(niceInMain(of: plain(), in: queue) == dispatchs)
        #expect(niceInMain(of: plain { $0.threadPriority = 0 }, in: queue) == dispatchs)
        #expect(niceInMain(of: plain { $0.qualityOfService = .utility }, in: queue) == dispatchs)
        // Back on the engine's threads they are.
        queue.underlyingQueue = nil
        #expect(niceInMain(of: plain { $0.threadPriority = 0 }, in: queue) == [ThreadFacts.nice(above: 19)])
    }

    @Test("among operations of several qualities the order is that of adding, at limit 1", .contract("N14"))
    func order() {
        let (queue, log) = (makeQueue(limit: 1, suspended: true), Recorder<Int>())
        let operations = numbered(9, into: log)
        let qualities: [QualityOfService] = [.background, .userInteractive, .utility]
        for (index, operation) in operations.enumerated() { operation.qualityOfService = qualities[index % 3] }
        queue.addOperations(operations, waitUntilFinished: false)
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == Array(0..<9))
    }
}

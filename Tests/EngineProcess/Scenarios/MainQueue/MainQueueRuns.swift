import Dispatch
import OperationEngine

/// Thousands of operations from several threads: each runs once, on the main thread if there is one, never two at once,
/// with the main queue as the current one.
@Sendable func mainQueueMany(_ arguments: [String]) {
    servingMain("main-queue-many", arguments) { server in
        let main = OperationQueue.main
        let log = SerialLog<Int>()
        let producers = OperationQueue()
        for producer in 0..<4 {
            producers.addOperation {
                for index in 0..<2_000 {
                    main.addOperation {
                        expect(isOnMainThread || !server.keepsMainThread, "not on the main thread")
                        expect(OperationQueue.current === main, "current is not the main queue")
                        log.append(producer * 2_000 + index)
                    }
                }
            }
        }
        producers.waitUntilAllOperationsAreFinished()
        main.waitUntilAllOperationsAreFinished()
        expect(log.entries.sorted() == Array(0..<8_000), "\(log.entries.count) runs")
        for producer in 0..<4 {
            let own = log.entries.filter { $0 / 2_000 == producer }
            expect(own == own.sorted(), "the operations of one producer are out of order")
        }
        expect(main.operationCount == 0 && main.operations.isEmpty, "the main queue is not empty")
    }
}

/// Priorities and dependencies decide on the main queue as on any other, also across queues; operations add others.
@Sendable func mainQueueGraph(_ arguments: [String]) {
    let main = OperationQueue.main
    let priorities: [Operation.QueuePriority] = [.veryLow, .veryHigh, .normal, .high, .low, .veryHigh, .normal]
    let log = SerialLog<Int>()
    // Before anybody serves the main queue: all are ready when the first one is chosen.
    for (index, priority) in priorities.enumerated() {
        let operation = BlockOperation { log.append(index) }
        operation.queuePriority = priority
        main.addOperation(operation)
    }
    servingMain("main-queue-graph", arguments) { _ in
        main.waitUntilAllOperationsAreFinished()
        expect(log.entries == [1, 5, 3, 2, 6, 4, 0], "order \(log.entries)")

        // main → other → main → …, added last first.
        let other = OperationQueue()
        let steps = Count()
        var chain: [Operation] = []
        for index in 0..<2_000 {
            let step = BlockOperation {
                expect(steps.value == index, "step \(index) too early")
                expect(OperationQueue.current === (index % 2 == 0 ? main : other), "step \(index) in the wrong queue")
                steps.add()
            }
            if let last = chain.last { step.addDependency(last) }
            chain.append(step)
        }
        for (index, step) in chain.enumerated().reversed() { (index % 2 == 0 ? main : other).addOperation(step) }
        chain[1_999].waitUntilFinished()

        // Each adds the next one.
        let rounds = Count()
        @Sendable func again() {
            rounds.add()
            if rounds.value < 3_000 { main.addOperation { again() } }
        }
        main.addOperation { again() }
        rounds.wait(for: 3_000)
        main.waitUntilAllOperationsAreFinished()
    }
}

/// `cancelAllOperations` reaches what waits in the main queue, and it goes on afterwards.
@Sendable func mainQueueCancel(_ arguments: [String]) {
    let main = OperationQueue.main
    let runs = Count()
    let unsaid = (0..<10).map { _ in UnsaidEnd() }
    let cancelled: [Operation] = (0..<1_000).map { _ in BlockOperation { runs.add() } } + unsaid
    // Added and cancelled before anybody serves the main queue.
    main.addOperations(cancelled, waitUntilFinished: false)
    main.cancelAllOperations()
    expect(cancelled.allSatisfy { $0.isCancelled && !$0.isFinished }, "not cancelled, or finished inside cancel")
    servingMain("main-queue-cancel", arguments) { _ in
        main.waitUntilAllOperationsAreFinished()
        expect(runs.value == 0, "\(runs.value) cancelled operations ran")
        expect(cancelled.allSatisfy { $0.ending != nil }, "not all are finished")
        expect(!unsaid.contains(where: \.isFinished), "one says that it is finished")

        let (begun, release) = (Gate(), Gate())
        let executing = BlockOperation { [main] in
            begun.open()
            release.wait()
            expect(main.operations.first?.isCancelled == true, "the executing one does not see the flag")
        }
        main.addOperation(executing)
        begun.wait()
        main.addOperation { runs.add() }
        main.cancelAllOperations()
        release.open()
        main.waitUntilAllOperationsAreFinished()
        expect(executing.isCancelled && executing.isFinished && runs.value == 0, "cancel while executing")

        main.addOperation { runs.add() }
        main.waitUntilAllOperationsAreFinished()
        expect(runs.value == 1, "one added afterwards did not run")
    }
}

/// Other work of the main thread has its turn between operations, and the other way round.
@Sendable func mainQueueShares(_ arguments: [String]) {
    let main = OperationQueue.main
    let (operations, blocks) = (Count(), Count())
    let seenByBlock = SerialLog<Int>()
    for _ in 0..<1_000 { main.addOperation { operations.add() } }
    // Behind the first lease, and before the second one.
    DispatchQueue.main.async { seenByBlock.append(operations.value) }
    servingMain("main-queue-shares", arguments) { _ in
        main.waitUntilAllOperationsAreFinished()
        let isBlockDone = Gate()
        DispatchQueue.main.async { isBlockDone.open() }
        isBlockDone.wait()
        expect(seenByBlock.entries.count == 1 && seenByBlock.entries[0] <= 16, "waited for \(seenByBlock.entries)")

        // Both without end until the other has had many turns.
        @Sendable func nextOperation() {
            operations.add()
            if blocks.value < 500 { main.addOperation { nextOperation() } }
        }
        @Sendable func nextBlock() {
            blocks.add()
            if operations.value < 1_500 || blocks.value < 500 { DispatchQueue.main.async { nextBlock() } }
        }
        main.addOperation { nextOperation() }
        DispatchQueue.main.async { nextBlock() }
        operations.wait(for: 1_500)
        blocks.wait(for: 500)
    }
}

/// Completion blocks do not run on the main thread, and belong to no queue. They may wait for the main queue.
@Sendable func mainQueueCompletion(_ arguments: [String]) {
    servingMain("main-queue-completion", arguments) { _ in
        let main = OperationQueue.main
        let completions = Count()
        for _ in 0..<100 {
            let operation = BlockOperation {}
            operation.completionBlock = {
                expect(!isOnMainThread, "a completion block on the main thread")
                expect(OperationQueue.current == nil, "a completion block has a current queue")
                let next = BlockOperation {}
                main.addOperation(next)
                next.waitUntilFinished()
                completions.add()
            }
            main.addOperation(operation)
        }
        completions.wait(for: 100)
    }
}

/// Waits across: operations of other queues wait for some of the main queue, and one of the main queue for some of
/// others. An asynchronous one keeps the main queue's only slot until it ends, without the thread.
@Sendable func mainQueueWaits(_ arguments: [String]) {
    servingMain("main-queue-waits", arguments) { _ in
        let (main, others) = (OperationQueue.main, OperationQueue())
        let runs = Count()
        for _ in 0..<200 {
            others.addOperation {
                let operation = BlockOperation { runs.add() }
                main.addOperation(operation)
                operation.waitUntilFinished()
            }
        }
        others.waitUntilAllOperationsAreFinished()
        expect(runs.value == 200, "\(runs.value) of 200")

        main.addOperation {
            let inner = (0..<100).map { _ in BlockOperation { runs.add() } }
            others.addOperations(inner, waitUntilFinished: true)
            expect(runs.value == 300, "the wait returned early")
        }
        main.waitUntilAllOperationsAreFinished()

        let (asynchronous, isBlockDone) = (LateEnd(), Gate())
        main.addOperation(asynchronous)
        main.addOperation { expect(asynchronous.isFinished, "the slot was taken while an asynchronous one held it") }
        DispatchQueue.main.async { isBlockDone.open() }
        isBlockDone.wait()
        expect(main.operationCount == 2, "the main thread is free, the queue is not: \(main.operationCount)")
        asynchronous.end()
        main.waitUntilAllOperationsAreFinished()
    }
}

/// Never says that it is finished.
private final class UnsaidEnd: Operation, @unchecked Sendable {
    override var isFinished: Bool { false }
}

/// An asynchronous operation that ends on request.
private final class LateEnd: Operation, @unchecked Sendable {
    private let phase = Count()

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { phase.value == 1 }
    override var isFinished: Bool { phase.value == 2 }
    override func start() { phase.add() }

    func end() {
        phase.wait(for: 1)
        willChangeValue(for: \.isFinished)
        phase.add()
        didChangeValue(for: \.isFinished)
    }
}

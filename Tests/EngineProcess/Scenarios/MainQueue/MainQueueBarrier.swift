import OperationEngine

/// Barriers of the main queue run on the main thread, with it as the current queue, between what is before and behind.
@Sendable func mainQueueBarrier(_ arguments: [String]) {
    let main = OperationQueue.main
    let log = SerialLog<String>()
    // The first one comes to an empty queue.
    for round in 0..<50 {
        main.addBarrierBlock {
            expect(MainServer(rawValue: arguments[0])?.keepsMainThread == false || isOnMainThread, "on another thread")
            expect(OperationQueue.current === main, "current is not the main queue")
            log.append("barrier \(round)")
        }
        let (low, high) = (
            BlockOperation { log.append("low \(round)") }, BlockOperation { log.append("high \(round)") }
        )
        low.queuePriority = .low
        high.queuePriority = .high
        main.addOperations([low, high], waitUntilFinished: false)
    }
    expect(main.operationCount == 100 && main.operations.count == 100, "barriers are counted")
    servingMain("main-queue-barrier", arguments) { _ in
        main.waitUntilAllOperationsAreFinished()
        var expected: [String] = []
        for round in 0..<50 { expected += ["barrier \(round)", "high \(round)", "low \(round)"] }
        expect(log.entries == expected, "order \(log.entries)")
    }
}

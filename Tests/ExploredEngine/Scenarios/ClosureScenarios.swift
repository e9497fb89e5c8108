import Interleaving

/// Closures without objects: listed, cancelled and put among operations while they run.
let closureScenarios: [Scenario] = [
    Scenario("closures-are-listed", "M9, O1: an object that is made of a closure while it runs ends with it") {
        exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        exploration.run(
            {
                queue.addOperation { log.add("first") }
                queue.addOperation { log.add("second") }
            },
            {
                for operation in queue.operations {
                    operation.waitUntilFinished()
                    exploration.check(operation.isFinished, "O1: the wait is over, the operation is not")
                }
            })
        exploration.settle()
        exploration.checkOnce(log, "first", "M9")
        exploration.checkOnce(log, "second", "M9")
        exploration.checkEmpty(queue, "M9")
    },
    Scenario("closures-seen", "X6: a closure that a snapshot finds while it runs stays one, or gets an object later") {
        exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        exploration.run(
            {
                queue.addOperation { log.add("first") }
                queue.addOperation { log.add("second") }
            },
            {
                let snapshot = queue.snapshot()
                exploration.check(snapshot.entries.allSatisfy { $0.kind == .closure }, "X6: an object was made")
                let metrics = queue.metrics
                let parts = metrics.waiting + metrics.ready + metrics.running + metrics.finished
                exploration.check(parts == metrics.added && metrics.waiting == 0, "X5: \(metrics)")
                _ = queue.operations
            })
        exploration.settle()
        exploration.checkOnce(log, "first", "X6")
        exploration.checkOnce(log, "second", "X6")
        exploration.checkEmpty(queue, "X6")
    },
    Scenario("closures-cancelled", "J10: closures that are cancelled as they are added run once, or never") {
        exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        exploration.run(
            {
                queue.addOperation { log.add("first") }
                queue.addOperation { log.add("second") }
            }, { queue.cancelAllOperations() })
        exploration.settle()
        exploration.check(log.count("first") <= 1 && log.count("second") <= 1, "J10: twice")
        exploration.checkEmpty(queue, "J10")
    },
    Scenario("closures-and-operations-in-order", "G5: what one thread adds starts in that order, whatever others add") {
        exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        exploration.run(
            {
                queue.addOperation { log.add("closure") }
                queue.addOperation(BlockOperation { log.add("operation") })
                queue.addOperation { log.add("closure behind") }
            }, { queue.addOperation { log.add("other") } })
        exploration.settle()
        let own = log.entries.filter { $0 != "other" }
        exploration.check(own == ["closure", "operation", "closure behind"], "G5: \(own)")
        exploration.checkOnce(log, "other", "G5")
        exploration.checkEmpty(queue, "G5")
    },
    Scenario(
        "closure-waited-for-by-a-deinit", "Q1: a closure that is chosen while a deinit waits for it runs", processors: 2
    ) { exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        queue.isSuspended = true
        queue.addOperation(WaitsForTheQueue(queue))
        queue.addOperation { log.add("closure") }
        exploration.run({ queue.isSuspended = false }, { _ = queue.operations })
        exploration.settle()
        exploration.checkOnce(log, "closure", "Q1")
        exploration.checkEmpty(queue, "Q1")
    },
    Scenario(
        "deinit-waits-behind-a-closure", "Q1 M9: a worker that waits in a deinit leaves the queue whole at the end",
        processors: 2
    ) { exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        queue.isSuspended = true
        queue.addOperation { log.add("closure") }
        let awaited = BlockOperation { log.add("awaited") }
        queue.addOperation(WaitsForOne(awaited))
        queue.addOperation(awaited)
        exploration.run({ queue.isSuspended = false }, { _ = queue.operations })
        exploration.settle()
        exploration.checkOnce(log, "closure", "Q1")
        exploration.checkOnce(log, "awaited", "Q1")
        exploration.checkEmpty(queue, "Q1")
    },
]

/// Its deinit waits for another operation.
private final class WaitsForOne: Operation, @unchecked Sendable {
    private let awaited: Operation
    init(_ awaited: Operation) { self.awaited = awaited }
    deinit { awaited.waitUntilFinished() }
}

/// Its deinit waits for all that its queue has left.
private final class WaitsForTheQueue: Operation, @unchecked Sendable {
    private let others: OperationQueue
    init(_ queue: OperationQueue) { others = queue }
    deinit { for operation in others.operations { operation.waitUntilFinished() } }
}

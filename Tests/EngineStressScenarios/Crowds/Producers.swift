import OperationEngine
import TestSupport

/// Blocks added at once by threads, by operations, by completion blocks, and to queues made on the spot.
@Sendable func producers(_ run: StressRun) {
    var random = run.generator()
    let queue = OperationQueue()
    let limit = [-1, 1, 3, 16].randomElement(using: &random)!
    queue.maxConcurrentOperationCount = limit
    let (threads, tally, level) = (4, Tally(), Level())
    let each = max(1, run.size / threads)
    run.describe { "\(tally.ends.load(ordering: .relaxed)) blocks have run; \(queue) with limit \(limit)" }
    let end: @Sendable () -> Void = {
        if tally.ends.add(1, ordering: .relaxed).newValue & 255 == 0 { run.advance() }
    }
    together(threads) { thread in
        for index in 0..<each {
            let operation = BlockOperation {
                level.enter()
                if index % 10 == 0 { queue.addOperation(end) }
                if index % 25 == 0 { OperationQueue().addOperation(end) }
                end()
                level.leave()
            }
            if index % 20 == 0 { operation.completionBlock = { queue.addOperation(end) } }
            queue.addOperation(operation)
        }
    }
    let extra = (0..<each).reduce(0) { $0 + ($1 % 10 == 0 ? 1 : 0) + ($1 % 25 == 0 ? 1 : 0) + ($1 % 20 == 0 ? 1 : 0) }
    let expected = threads * (each + extra)
    run.await { tally.ends.load(ordering: .relaxed) == expected }
    queue.waitUntilAllOperationsAreFinished()
    run.require(queue.operationCount == 0, "an empty queue counts \(queue.operationCount)")
    run.require(limit < 0 || level.peak <= limit, "\(level.peak) at once with a limit of \(limit) (contract N2)")
    run.count(expected)
}

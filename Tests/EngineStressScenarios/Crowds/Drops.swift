import OperationEngine
import Synchronization
import TestSupport

/// Queues that nobody holds any more while their operations run: by the thread that made them, by one of their own
/// operations, by a completion block, with dependencies on operations of other dropped queues.
@Sendable func droppedQueues(_ run: StressRun) {
    let live = LiveCount()
    let tally = Tally()
    let threads = 4
    let each = max(1, run.size / threads)
    run.describe { "\(tally.ends.load(ordering: .relaxed)) operations have run, \(live.value) objects live" }
    together(threads) { thread in
        var random = run.generator(thread + 1)
        var earlier: Operation?
        for _ in 0..<each { earlier = dropOne(run, live, tally, after: earlier, &random) }
    }
    let expected = threads * each * 4
    run.await { tally.ends.load(ordering: .relaxed) == expected && live.value == 0 }
    run.count(expected)
}

/// Makes a queue with four operations and drops it. Returns one of them, for another queue to wait for.
private func dropOne(
    _ run: StressRun, _ live: LiveCount, _ tally: Tally, after earlier: Operation?, _ random: inout SeededGenerator
) -> Operation {
    let queue = CountedQueue(live)
    queue.maxConcurrentOperationCount = [-1, 1, 2].randomElement(using: &random)!
    let holder = Guarded<CountedQueue?>(queue)
    let end: @Sendable () -> Void = {
        tally.ends.add(1, ordering: .relaxed)
        run.advance()
    }
    let first = BlockOperation(block: end)
    let second = BlockOperation(block: end)
    second.addDependency(first)
    if let earlier, Int.random(in: 0..<3, using: &random) == 0 { first.addDependency(earlier) }
    let dropsInCompletion = Bool.random(using: &random)
    let third = BlockOperation {
        if !dropsInCompletion { holder.withLock { $0 = nil } }
        end()
    }
    if dropsInCompletion { third.completionBlock = { holder.withLock { $0 = nil } } }
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
        queue.addOperations([second, third, first], waitUntilFinished: false)
    case 1:
        // Suspended, and resumed by the last thing that anybody does with it.
        queue.isSuspended = true
        for operation in [third, first, second] { queue.addOperation(operation) }
        queue.isSuspended = false
    default:
        for operation in [second, first, third] { queue.addOperation(operation) }
    }
    queue.addOperation(end)
    return second
}

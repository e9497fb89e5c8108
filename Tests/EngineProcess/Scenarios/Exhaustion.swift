import Glibc
import OperationEngine

/// More nested waits than there may be threads: no operation gets on, and one report says so (contract N13, O5).
@Sendable func exhaustedThreads(_ arguments: [String]) {
    EndlessWait.patience = .milliseconds(50)
    let reports = Count()
    Misuse.handler = { misuse in
        guard case .waitNeverEnds(let reason) = misuse else { fail("\(misuse)") }
        expect(reason.hasPrefix("all 512 threads"), reason)
        reports.add()
    }
    switch arguments.first {
    case "queues": OperationQueue().addOperation { waitAcrossQueues(600) }
    case "tree":
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = .max
        queue.addOperation { forkAndJoin(depth: 12, in: queue) }
    case "escape":
        // One of them waits for something that a thread of the program itself ends.
        let gate = Gate()
        let own = BlockOperation { gate.wait() }
        onNewThread { own.start() }
        OperationQueue().addOperation { own.waitUntilFinished() }
        OperationQueue().addOperation { waitAcrossQueues(600) }
        waitUntil { ProcessFacts.engineThreads >= 513 }
        // Long enough for many looks.
        pause(milliseconds: 1000)
        expect(reports.value == 0, "\(reports.value) reports")
        gate.open()
    default: fail("no such way")
    }
    reports.wait(for: 1)
    pause(milliseconds: 300)
    expect(reports.value == 1, "\(reports.value) reports")
}

/// Adds an operation to a queue of its own and waits for it, which does the same, so many times.
private func waitAcrossQueues(_ count: Int) {
    if count == 0 { return }
    let next = BlockOperation { waitAcrossQueues(count - 1) }
    OperationQueue().addOperation(next)
    next.waitUntilFinished()
}

private func forkAndJoin(depth: Int, in queue: OperationQueue) {
    if depth == 0 { return }
    let halves = (0..<2).map { _ in BlockOperation { forkAndJoin(depth: depth - 1, in: queue) } }
    queue.addOperations(halves, waitUntilFinished: true)
}

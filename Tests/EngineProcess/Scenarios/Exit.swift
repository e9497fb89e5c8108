import Glibc
import OperationEngine

/// Operations in every state: executing and blocked, executing and waiting for another, waiting for a dependency, for a
/// slot, in a suspended queue, asynchronous, in a completion block. None of them will ever end.
private func leaveOperationsInFlight() {
    let never = Gate()
    let started = Count()
    let queue = OperationQueue()
    let blocked = BlockOperation {
        started.add()
        never.wait()
    }
    let dependent = BlockOperation {}
    dependent.addDependency(blocked)
    let waiter = BlockOperation {
        started.add()
        blocked.waitUntilFinished()
    }
    let finished = BlockOperation {}
    finished.completionBlock = {
        started.add()
        never.wait()
    }
    queue.addOperations([blocked, dependent, waiter, finished, LastingOperation(started)], waitUntilFinished: false)

    let narrow = OperationQueue()
    narrow.maxConcurrentOperationCount = 1
    narrow.addOperation {
        started.add()
        queue.waitUntilAllOperationsAreFinished()
    }
    for _ in 0..<100 { narrow.addOperation {} }

    let suspended = OperationQueue()
    suspended.isSuspended = true
    suspended.addOperation {}
    inFlight = [queue, narrow, suspended]
    started.wait(for: 5)
}

/// A suspended queue keeps itself and its operations alive: what nobody else refers to would be a leak at the end. Written
/// by main before anything else reads it.
private nonisolated(unsafe) var inFlight: [OperationQueue] = []

/// An asynchronous operation that never comes to its end.
private final class LastingOperation: Operation, @unchecked Sendable {
    private let started: Count

    init(_ started: Count) { self.started = started }

    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { false }
    override func start() { started.add() }
}

/// Main ends, or `exit` is called, while operations are in flight: the process ends.
@Sendable func exitInFlight(_ arguments: [String]) {
    leaveOperationsInFlight()
    if arguments == ["exit"] { passAndExit("exit-in-flight") }
}

/// An operation calls `exit` while main waits for it.
@Sendable func exitInOperation(_: [String]) {
    leaveOperationsInFlight()
    let queue = OperationQueue()
    queue.addOperation { passAndExit("exit-in-operation") }
    queue.waitUntilAllOperationsAreFinished()
    fail("exit returned")
}

/// Main ends while workers are at work, and operations come and go.
@Sendable func exitWhileBusy(_: [String]) {
    let (runs, queue) = (Count(), OperationQueue())
    @Sendable func step() {
        runs.add()
        let next = BlockOperation { step() }
        next.addDependency(BlockOperation {})
        next.dependencies.forEach(queue.addOperation(_:))
        queue.addOperation(next)
    }
    for _ in 0..<8 { step() }
    runs.wait(for: 2_000)
}

/// A handler of `atexit` adds operations and waits for them, blocking ones among them.
///
/// Arguments: `first` if nothing has used the engine before; `operation` if an operation calls `exit`.
@Sendable func atExit(_ arguments: [String]) {
    if arguments != ["first"] { leaveOperationsInFlight() }
    atexit {
        let (runs, gate) = (Count(), Gate())
        let queue = OperationQueue()
        for _ in 0..<50 { queue.addOperation { runs.add() } }
        for _ in 0..<8 {
            queue.addOperation {
                gate.wait()
                runs.add()
            }
        }
        queue.addOperation { gate.open() }
        queue.waitUntilAllOperationsAreFinished()
        if runs.value != 58 { _exit(1) }
        say("the handler ran")
    }
    if arguments == ["operation"] {
        OperationQueue().addOperations([BlockOperation { passAndExit("at-exit") }], waitUntilFinished: true)
    }
}

private func passAndExit(_ name: String) -> Never {
    print("\(name): passed")
    exit(0)
}

import Dispatch
import OpBenchBackends
import OpBenchKit
import OperationEngine
import Synchronization
import TestSupport
import Testing

/// A queue that can run closures, and nothing else.
final class BareQueue: MeasuredQueue {
    private let queue = DispatchQueue(label: "bare", attributes: .concurrent)

    func submit(_ work: @escaping Work) { queue.async(execute: work) }
}

/// A queue that has every capability there is, by the engine's.
final class FullQueue: SuspendableQueue, PrioritizedQueue, ThreadPriorityQueue, BarrierQueue, DependencyQueue,
    CancellingQueue, AsynchronousQueue, BulkQueue, WaitingQueue
{
    /// Work that starts, or is taken back first.
    final class Ticket: Sendable {
        fileprivate let operation: Operation?
        private let isDecided = Atomic<Bool>(false)

        fileprivate init(_ operation: Operation? = nil) { self.operation = operation }

        /// True for the first caller.
        fileprivate func decide() -> Bool { !isDecided.exchange(true, ordering: .acquiringAndReleasing) }
    }

    private let queue = OperationQueue()

    init(limit: Int?) { if let limit { queue.maxConcurrentOperationCount = limit } }

    func submit(_ work: @escaping Work) { queue.addOperation(work) }

    func submit(contentsOf works: [Work]) {
        queue.addOperations(works.map { BlockOperation(block: $0) }, waitUntilFinished: false)
    }

    func suspend() { queue.isSuspended = true }

    func resume() { queue.isSuspended = false }

    func submit(priority: QueuePriority, _ work: @escaping Work) {
        let operation = BlockOperation(block: work)
        operation.queuePriority = Operation.QueuePriority(rawValue: priority.rawValue)!
        queue.addOperation(operation)
    }

    func submit(threadPriority: Double, _ work: @escaping Work) {
        let operation = BlockOperation(block: work)
        operation.threadPriority = threadPriority
        queue.addOperation(operation)
    }

    func submitBarrier(_ work: @escaping Work) { queue.addBarrierBlock(work) }

    func submit(after tickets: [Ticket], _ work: @escaping Work) -> Ticket {
        let operation = BlockOperation(block: work)
        for ticket in tickets { operation.addDependency(ticket.operation!) }
        queue.addOperation(operation)
        return Ticket(operation)
    }

    func submitCancellable(_ work: @escaping Work) -> Ticket {
        let ticket = Ticket()
        queue.addOperation { if ticket.decide() { work() } }
        return ticket
    }

    func cancel(_ ticket: Ticket) -> Bool { ticket.decide() }

    func submitAsynchronous(_ work: @escaping @Sendable (_ end: @escaping Work) -> Void) {
        queue.addOperation(
            AsyncOperation { await withUnsafeContinuation { ended in work { ended.resume() } } })
    }

    func waitUntilEmpty() { queue.waitUntilAllOperationsAreFinished() }
}

/// A queue of no threads: work runs within the call that submits it, as often as the queue likes.
final class HastyQueue: MeasuredQueue {
    private let times: Int

    init(times: Int) { self.times = times }

    func submit(_ work: @escaping Work) { for _ in 0..<times { work() } }
}

/// A queue of no threads that keeps what it has run, to run all of it once more when its rounds are over.
final class BelatedQueue: MeasuredQueue {
    final class Log: @unchecked Sendable {
        private let lock = PlainLock()
        private var works: [Work] = []

        func keep(_ work: @escaping Work) { lock.whileLocked { works.append(work) } }

        func runAgain() {
            let works = lock.whileLocked { self.works }
            for work in works { work() }
        }
    }

    private let log: Log

    init(_ log: Log) { self.log = log }

    func submit(_ work: @escaping Work) {
        log.keep(work)
        work()
    }
}

/// A queue of no threads and no limit: no work has ended for it before all of it has begun.
final class BoundlessQueue: AsynchronousQueue {
    private let haveBegun = Gate("all work has begun")
    private let rest: Atomic<Int>

    init(operations: Int) { rest = Atomic(operations) }

    func submit(_ work: @escaping Work) { work() }

    func submitAsynchronous(_ work: @escaping @Sendable (_ end: @escaping Work) -> Void) {
        work { [haveBegun] in haveBegun.wait() }
        if rest.subtract(1, ordering: .relaxed).newValue == 0 { haveBegun.open() }
    }
}

/// A queue that records when it is made and shut down.
final class CountedQueue: SuspendableQueue {
    final class Log: Sendable {
        let made = Atomic<Int>(0)
        let shutDown = Atomic<Int>(0)
    }

    private let queue = FullQueue(limit: nil)
    private let log: Log
    private let times: Int
    private let submitted = Atomic<Int>(0)

    /// - Parameter times: how often the first operation runs; what is too little, the second does more.
    init(_ log: Log, times: Int = 1) {
        (self.log, self.times) = (log, times)
        log.made.add(1, ordering: .relaxed)
    }

    func submit(_ work: @escaping Work) {
        let times =
            switch submitted.add(1, ordering: .relaxed).oldValue {
            case 0: times
            case 1: max(1, 2 - times)
            default: 1
            }
        if times == 1 { return queue.submit(work) }
        // At once, so that they have ended before the round does.
        for _ in 0..<times { work() }
    }

    func suspend() { queue.suspend() }
    func resume() { queue.resume() }
    func shutDown() { log.shutDown.add(1, ordering: .relaxed) }
}

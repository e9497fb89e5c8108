import OpBenchBackends
import OpBenchModel

/// A program's queue as the rounds see it. Its capabilities beyond running closures are looked up once, in `init`.
final class KitQueue: DeclaredQueue, @unchecked Sendable {
    private let queue: any MeasuredQueue
    private let suspendable: (any SuspendableQueue)?
    private let prioritized: (any PrioritizedQueue)?
    private let threadPrioritized: (any ThreadPriorityQueue)?
    private let divided: (any BarrierQueue)?
    private let asynchronous: (any AsynchronousQueue)?
    private let bulk: (any BulkQueue)?
    private let waiting: (any WaitingQueue)?
    private let dependencies: DependencyTickets?
    private let cancellations: CancellationTickets?

    /// - Parameter hasWait: whether the queue's own wait is used.
    init(_ queue: any MeasuredQueue, hasWait: Bool) {
        self.queue = queue
        suspendable = queue as? any SuspendableQueue
        prioritized = queue as? any PrioritizedQueue
        threadPrioritized = queue as? any ThreadPriorityQueue
        divided = queue as? any BarrierQueue
        asynchronous = queue as? any AsynchronousQueue
        bulk = queue as? any BulkQueue
        waiting = queue as? any WaitingQueue
        dependencies = (queue as? any DependencyQueue).map { DependencyTickets.of($0) }
        cancellations = (queue as? any CancellingQueue).map { CancellationTickets.of($0) }
        super.init(hasWait: hasWait)
    }

    /// A round releases the queue when nothing is left to run.
    deinit { queue.shutDown() }

    override func submit(_ work: @escaping Work) { queue.submit(work) }

    override var takesBulk: Bool { bulk != nil }

    override func submit(contentsOf works: [Work]) { bulk?.submit(contentsOf: works) }

    override func submitBarrier(_ work: @escaping Work) { divided?.submitBarrier(work) }

    override func submit(priority: Int, _ work: @escaping Work) {
        prioritized?.submit(priority: QueuePriority(rawValue: priority) ?? .normal, work)
    }

    override func submit(threadPriority: Double, _ work: @escaping Work) {
        threadPrioritized?.submit(threadPriority: threadPriority, work)
    }

    override func keepTickets(of operations: Int) {
        dependencies?.keep(operations)
        cancellations?.keep(operations)
    }

    override func submit(_ operation: Int, after predecessors: [Int], _ work: @escaping Work) {
        dependencies?.submit(operation, after: predecessors, work)
    }

    override func submitCancellable(_ operation: Int, _ work: @escaping Work) {
        cancellations?.submit(operation, work)
    }

    override func cancel(_ operation: Int) -> Bool { cancellations?.cancel(operation) ?? false }

    override var knowsEnds: Bool { asynchronous != nil }

    override func submitAsynchronous(_ work: @escaping @Sendable (_ end: @escaping Work) -> Void) {
        asynchronous?.submitAsynchronous(work)
    }

    override func waitUntilEmpty() { waiting?.waitUntilEmpty() }

    override func suspend() { suspendable?.suspend() }

    override func resume() { suspendable?.resume() }
}

/// The tickets of a round's operations, without their type. Written by the one thread that submits.
private class DependencyTickets {
    static func of(_ queue: some DependencyQueue) -> DependencyTickets { Typed(queue) }

    func keep(_ operations: Int) {}

    func submit(_ operation: Int, after predecessors: [Int], _ work: @escaping MeasuredQueue.Work) {}

    private final class Typed<Queue: DependencyQueue>: DependencyTickets {
        private let queue: Queue
        private var tickets: [Queue.Ticket] = []
        private var after: [Queue.Ticket] = []

        init(_ queue: Queue) { self.queue = queue }

        override func keep(_ operations: Int) {
            (tickets, after) = ([], [])
            tickets.reserveCapacity(operations)
        }

        override func submit(_ operation: Int, after predecessors: [Int], _ work: @escaping MeasuredQueue.Work) {
            after.removeAll(keepingCapacity: true)
            for predecessor in predecessors { after.append(tickets[predecessor]) }
            tickets.append(queue.submit(after: after, work))
        }
    }
}

/// The same for cancellation. An operation's producer writes its ticket, and cancels it.
private class CancellationTickets {
    static func of(_ queue: some CancellingQueue) -> CancellationTickets { Typed(queue) }

    func keep(_ operations: Int) {}

    func submit(_ operation: Int, _ work: @escaping MeasuredQueue.Work) {}

    func cancel(_ operation: Int) -> Bool { false }

    private final class Typed<Queue: CancellingQueue>: CancellationTickets {
        private let queue: Queue
        private var tickets = UnsafeMutableBufferPointer<Queue.Ticket?>(start: nil, count: 0)

        init(_ queue: Queue) { self.queue = queue }

        deinit { keep(0) }

        override func keep(_ operations: Int) {
            tickets.deinitialize()
            tickets.deallocate()
            tickets = .allocate(capacity: operations)
            tickets.initialize(repeating: nil)
        }

        override func submit(_ operation: Int, _ work: @escaping MeasuredQueue.Work) {
            tickets[operation] = queue.submitCancellable(work)
        }

        override func cancel(_ operation: Int) -> Bool {
            guard let ticket = tickets[operation] else { return false }
            return queue.cancel(ticket)
        }
    }
}

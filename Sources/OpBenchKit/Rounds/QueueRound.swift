import OpBenchBackends
import OpBenchModel

/// One round on declared queues: the queues, their suspension, and how the end of everything is awaited. Submits one closure
/// an operation. A subclass says what is different.
class QueueRound: OpBenchBackends.Backend, @unchecked Sendable {
    typealias Work = @Sendable () -> Void
    typealias Make = @Sendable (QueueSettings) -> any MeasuredQueue

    let plan: WorkloadPlan
    let body: OperationBody
    let ends = EndCounter()
    /// Whether the queue's own wait is used instead of `ends`.
    final let waits: Bool
    private let make: Make
    private(set) final var queues: [OwnedQueue] = []
    /// The first queue, if its own wait is used.
    private var waiting: (any WaitingQueue)?
    private var isHandedOver = false

    /// - Parameter hasWait: whether the queue has a wait of its own that serves.
    required init(_ plan: WorkloadPlan, _ body: OperationBody, _ make: @escaping Make, _ hasWait: Bool) {
        (self.plan, self.body, self.make, waits) = (plan, body, make, hasWait)
    }

    deinit { ends.deallocate() }

    // MARK: Phases

    func build() {
        if queues.isEmpty {
            queues = (0..<(plan.chains?.queues ?? 1)).map { _ in
                OwnedQueue(make(QueueSettings(limit: plan.limit)), limit: plan.limit)
            }
        }
        if waits { waiting = queues[0].queue as? any WaitingQueue }
        if plan.startsSuspended { suspend() }
    }

    func submit(_ part: Range<Int>) {
        let queue = queues[0].queue
        begin(part.count)
        for operation in part {
            body.willSubmit(operation)
            queue.submit(work(operation))
            body.didSubmit(operation)
        }
    }

    func release() { resume() }

    func drain() {
        if let waiting { waiting.waitUntilEmpty() } else { ends.wait() }
    }

    func cancel(_ part: Range<Int>) {}

    func attest() {}

    func teardown() {
        waiting = nil
        if !isHandedOver { for queue in queues { queue.shutDown() } }
        queues = []
    }

    func handOver() -> AnyObject? {
        guard queues.count == 1 else { return nil }
        isHandedOver = true
        return queues[0]
    }

    func takeOver(_ queue: AnyObject) {
        guard let queue = queue as? OwnedQueue, queue.limit == plan.limit, plan.chains?.queues ?? 1 == 1 else { return }
        queues = [queue]
    }

    func suspend() { for queue in queues { (queue.queue as? any SuspendableQueue)?.suspend() } }

    func resume() { for queue in queues { (queue.queue as? any SuspendableQueue)?.resume() } }

    // MARK: Operations

    /// Submits an operation that has become ready, within another one perhaps. The call has returned before the operation
    /// that makes it ends: `drain` waits for both.
    @inline(never)
    final func submitReady(_ operation: Int, to queue: Int = 0) {
        body.willSubmit(operation)
        queues[queue].queue.submit(work(operation))
        body.didSubmit(operation)
    }

    /// So many operations will be submitted.
    final func begin(_ count: Int) { if !waits { ends.begin(count) } }

    /// The last act of an operation. Nothing of the round may be touched after it.
    @inline(__always)
    final func end() { if !waits { ends.end() } }

    /// The operation as a closure, of 16 bytes as with other backends: its number, and this object without reference
    /// counting, since `drain` waits for the operation.
    func work(_ operation: Int) -> Work {
        unowned(unsafe) let round = self
        if notifies(operation) {
            return {
                round.body.run(operation)
                round.body.didNotify(operation)
                round.end()
            }
        }
        return {
            round.body.run(operation)
            round.end()
        }
    }

    /// Whether a stamped sample times the operation's completion, which is a call at the end of its closure.
    @inline(__always)
    final func notifies(_ operation: Int) -> Bool { body.wantsNotification(operation) && plan.hasCompletionBlocks }
}

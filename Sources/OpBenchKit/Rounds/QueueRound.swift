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
    /// Whether operations ran twice or were lost. Nothing is freed then: the queues may still be at work.
    private(set) final var isBroken = false
    private(set) final var isOver = false
    /// A queue that runs work twice may do so when the round is over: the last rounds stay, and say so.
    private static let leftovers = Leftovers<QueueRound>(count: 1024)

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

    /// Looks at the outcome while all of the round is there: what would be torn down may still be in use.
    func attest() {
        let violations = plan.violations(of: body.traces)
        if !violations.isEmpty { giveUp(violations.joined(separator: "; ")) }
    }

    private func giveUp(_ finding: String) {
        isBroken = true
        BrokenRound.report(finding, keeping: self)
    }

    func teardown() {
        if !waits, !ends.close() { giveUp("an operation ran once more than it was submitted") }
        isOver = true
        if isBroken { return }
        waiting = nil
        if !isHandedOver { for queue in queues { queue.shutDown() } }
        queues = []
        _ = Self.leftovers.keep(self)
    }

    /// An operation runs whose round is over.
    final func ranLate() { BrokenRound.report("an operation ran once more when its round was over") }

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
        guard queue < queues.count else { return ranLate() }
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
    /// counting, since `drain` waits for the operation. `Unmanaged` spares an operation 41 instructions that `unowned(unsafe)`
    /// spends on it all the same.
    func work(_ operation: Int) -> Work {
        let round = Unmanaged.passUnretained(self)
        if notifies(operation) {
            return {
                round._withUnsafeGuaranteedRef {
                    $0.body.run(operation)
                    $0.body.didNotify(operation)
                    $0.end()
                }
            }
        }
        return {
            round._withUnsafeGuaranteedRef {
                $0.body.run(operation)
                $0.end()
            }
        }
    }

    /// Whether a stamped sample times the operation's completion, which is a call at the end of its closure.
    @inline(__always)
    final func notifies(_ operation: Int) -> Bool { body.wantsNotification(operation) && plan.hasCompletionBlocks }
}

/// A queue that was made, until it is shut down: by its round, or when the last of several phases that share it lets go.
final class OwnedQueue: @unchecked Sendable {
    let queue: any MeasuredQueue
    /// What it was made with.
    let limit: Int?
    /// Touched by the thread that runs the rounds.
    private var isOver = false

    init(_ queue: any MeasuredQueue, limit: Int?) { (self.queue, self.limit) = (queue, limit) }

    deinit { shutDown() }

    func shutDown() {
        if !isOver { queue.shutDown() }
        isOver = true
    }
}

import OpBenchBackends
import OpBenchModel

/// The classes of a library of operation queues, used as any program would.
///
/// This folder is compiled twice, for the engine and for Foundation: the files beside it say what `Operation`,
/// `OperationQueue` and `BlockOperation` are there, and what only one of the two can do.
///
/// - closure: `addOperation { }`; in bulk and refill a `BlockOperation` of the closure, since those take objects.
/// - block: a `BlockOperation`, made in `build`.
/// - subclass: `main` overridden, made in `build`.
/// - refill: every operation of a batch has a completion block that counts down; the last one submits the next batch.
final class QueueBackend: Backend, @unchecked Sendable {
    /// What sets operations of several classes apart.
    private enum Urgency {
        case none, queuePriority, threadPriority
    }

    /// How a library of operation queues executes what shapes need.
    static let ways: [Capability: Way] = [
        .independent: way(), .chains: way(), .graphs: way(), .suspension: way(), .wakeups: way(), .arrivals: way(),
        .priorities: way(.queuePriority), .threadPriorities: way(.threadPriority),
        .cancellation: Way { CancellingRound($0, $1) },
        .blocking: Way { WaitingRound($0, $1) },
        .holding: Way { LadenRound($0, $1) },
        .observers: Way { ObservedRound($0, $1) },
        .barriers: Way { Library.barriers($0, $1) },
        .blockGroups: Way { GroupRound($0, $1) },
        .announcedEnds: Way { AsynchronousRound($0, $1) },
        .manualStarts: Way(canHoldPending: { _ in false }, make: { ByHandRound($0, $1) }),
    ]

    private static func way(_ urgency: Urgency = .none) -> Way { Way { QueueBackend($0, $1, urgency) }.on(.declared) }

    private let plan: WorkloadPlan
    private let body: OperationBody
    private let urgency: Urgency
    private var queues: [OperationQueue] = []
    private var inherited: OperationQueue?
    private var operations: [Operation] = []
    private let refill: Refill?
    private let notifications = Notifications()

    private init(_ plan: WorkloadPlan, _ body: OperationBody, _ urgency: Urgency) {
        self.plan = plan
        self.body = body
        self.urgency = urgency
        refill = plan.refillWindow.map { Refill(window: $0, streams: plan.parts.count) }
    }

    // MARK: Phases

    func build() {
        let count = plan.chains?.queues ?? 1
        queues = inherited.map { count == 1 ? [adapted($0)] : [] } ?? []
        if queues.isEmpty { queues = (0..<count).map { _ in makeQueue() } }
        guard !plan.makesClosuresOnly, refill == nil else { return }
        operations.reserveCapacity(plan.operationCount)
        for operation in 0..<plan.operationCount { operations.append(make(operation)) }
        plan.forEachDependency { operation, predecessor in
            operations[operation].addDependency(operations[predecessor])
        }
    }

    func submit(_ part: Range<Int>) {
        if let refill {
            submitBatch(of: part, refill)
        } else if plan.submission == .bulk {
            body.submitTogether(part, in: plan) {
                let isAll = part.count == operations.count
                queues[0].addOperations(isAll ? operations : Array(operations[part]), waitUntilFinished: false)
            }
        } else if plan.makesClosuresOnly {
            let (queue, body) = (queues[0], body)
            for operation in part {
                body.willSubmit(operation)
                queue.addOperation { body.run(operation) }
                body.didSubmit(operation)
            }
        } else {
            for index in part { submit(plan.operation(at: index)) }
        }
    }

    func release() { for queue in queues { queue.isSuspended = false } }

    func drain() {
        refill?.wait()
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        notifications.wait()
    }

    func teardown() {
        operations = []
        queues = []
        inherited = nil
    }

    func suspend() { queues[0].isSuspended = true }

    func resume() { queues[0].isSuspended = false }

    // MARK: Parts

    func handOver() -> AnyObject? { queues.count == 1 ? queues[0] : nil }

    func takeOver(_ queue: AnyObject) { inherited = queue as? OperationQueue }

    /// The queue of the phase before, with the limit of this one.
    private func adapted(_ queue: OperationQueue) -> OperationQueue {
        queue.maxConcurrentOperationCount = plan.limit ?? OperationQueue.defaultMaxConcurrentOperationCount
        queue.isSuspended = plan.startsSuspended
        return queue
    }

    private func makeQueue() -> OperationQueue {
        let queue = OperationQueue()
        if let limit = plan.limit { queue.maxConcurrentOperationCount = limit }
        if plan.startsSuspended { queue.isSuspended = true }
        return queue
    }

    private func make(_ operation: Int) -> Operation {
        let body = body
        let made: Operation
        if case .subclass = plan.form {
            made = NumberedOperation(operation, body)
        } else {
            made = BlockOperation { body.run(operation) }
        }
        switch urgency {
        case .none: break
        case .queuePriority: made.queuePriority = .init(rawValue: Int(plan.classValue(of: operation))) ?? .normal
        case .threadPriority: Library.setThreadPriority(plan.classValue(of: operation), of: made)
        }
        if refill == nil, body.wantsNotification(operation) {
            made.completionBlock = notifications.block(operation, body)
        }
        return made
    }

    private func submit(_ operation: Int) {
        body.willSubmit(operation)
        queues[plan.queueIndex(of: operation)].addOperation(operations[operation])
        body.didSubmit(operation)
    }

    private func submitBatch(of part: Range<Int>, _ refill: Refill) {
        let batch = part.prefix(refill.window)
        let rest = batch.upperBound..<part.upperBound
        let unfinished = Countdown(batch.count)
        refill.willSubmit()
        defer { refill.didSubmit() }
        for operation in batch {
            let made = make(operation)
            made.completionBlock = { [body] in
                body.didNotify(operation)
                guard unfinished.isLast() else { return }
                if rest.isEmpty { refill.streamEnded() } else { self.submitBatch(of: rest, refill) }
            }
            body.willSubmit(operation)
            queues[0].addOperation(made)
            body.didSubmit(operation)
        }
    }
}

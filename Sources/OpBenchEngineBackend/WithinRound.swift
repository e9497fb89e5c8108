import OpBenchBackends
import OpBenchModel
import OperationEngine

/// Chains and graphs of which each body submits what it has made ready, as closures.
///
/// Without a limit a chain of one queue has one of limit 1 to itself.
final class WithinRound: Backend, @unchecked Sendable {
    private let plan: WorkloadPlan
    private let body: OperationBody
    private let successors: Successors
    private let queues: [OperationQueue]
    /// The same, found without reference counting.
    private let queueTable: UnsafeMutablePointer<Unretained<OperationQueue>>
    private let queueCount: UInt32
    private let isAcrossQueues: Bool
    /// Counts the operations that nothing waits for.
    private let running = EndCounter()
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
        successors = Successors(plan)
        let given = plan.chains?.queues ?? 1
        isAcrossQueues = given > 1
        let ownQueues = plan.limit == nil && !isAcrossQueues ? plan.chains?.count : nil
        queues = (0..<(ownQueues ?? given)).map { _ in
            let queue = OperationQueue()
            if let limit = ownQueues == nil ? plan.limit : 1 { queue.maxConcurrentOperationCount = limit }
            return queue
        }
        queueCount = UInt32(queues.count)
        queueTable = .allocate(capacity: queues.count)
        for (index, queue) in queues.enumerated() { (queueTable + index).initialize(to: Unretained(queue)) }
    }

    deinit {
        queueTable.deallocate()
        running.deallocate()
        successors.deallocate()
    }

    func build() { running.begin(successors.endCount) }

    func submit(_ part: Range<Int>) { for head in successors.heads { submit(head) } }

    func release() {}

    func drain() {
        running.wait()
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        notifications.wait()
    }

    func teardown() {}

    func suspend() {}

    func resume() {}

    @inline(__always)
    private func queue(of operation: Int) -> Unretained<OperationQueue> {
        if queueCount == 1 { return queueTable[0] }
        if isAcrossQueues { return queueTable[plan.queueIndex(of: operation)] }
        return queueTable[Int(UInt32(truncatingIfNeeded: operation) % queueCount)]
    }

    private func submit(_ operation: Int) {
        // The round outlives its operations, since `drain` waits for them.
        let round = Unretained(self)
        let queue = queue(of: operation)
        queue { queue in
            guard body.takesStamps else { return queue.addOperation { round { $0.run(operation) } } }
            // The operation may end before this call has returned; `drain` must not.
            running.begin(1)
            body.willSubmit(operation)
            if body.wantsNotification(operation) {
                let made = BlockOperation { round { $0.run(operation) } }
                made.completionBlock = notifications.block(operation, body)
                queue.addOperation(made)
            } else {
                queue.addOperation { round { $0.run(operation) } }
            }
            body.didSubmit(operation)
            running.end()
        }
    }

    private func run(_ operation: Int) {
        body.run(operation)
        if successors.release(after: operation, by: { submit($0) }) { running.end() }
    }
}

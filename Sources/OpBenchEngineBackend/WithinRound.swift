import OpBenchBackends
import OpBenchModel
import OperationEngine

/// Chains and graphs of which each body submits what it has made ready, as closures.
final class WithinRound: Backend, @unchecked Sendable {
    private let plan: WorkloadPlan
    private let body: OperationBody
    private let successors: Successors
    private let queues: QueueTable<OperationQueue>
    /// Counts the operations that nothing waits for.
    private let running = EndCounter()
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
        successors = Successors(plan)
        queues = QueueTable(plan) { limit in
            let queue = OperationQueue()
            if let limit { queue.maxConcurrentOperationCount = limit }
            return queue
        }
    }

    deinit {
        queues.deallocate()
        running.deallocate()
        successors.deallocate()
    }

    func build() { running.begin(successors.endCount) }

    func submit(_ part: Range<Int>) { for head in successors.heads { submit(head) } }

    func release() {}

    func drain() {
        running.wait()
        for queue in queues.queues { queue.waitUntilAllOperationsAreFinished() }
        notifications.wait()
    }

    func teardown() {}

    func suspend() {}

    func resume() {}

    private func submit(_ operation: Int) {
        // The round outlives its operations, since `drain` waits for them.
        let round = Unretained(self)
        let queue = queues.queue(of: operation, in: plan)
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

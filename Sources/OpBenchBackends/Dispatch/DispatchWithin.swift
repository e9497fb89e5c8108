import Dispatch
import OpBenchModel

/// Chains and graphs of which each body submits what it has made ready, as its last act.
final class DispatchWithin: Backend, @unchecked Sendable {
    private let plan: WorkloadPlan
    private let body: OperationBody
    /// Whether a body runs the first that it made ready itself, without the queue.
    private let isInline: Bool
    private let successors: Successors
    private let lanes: QueueTable<DispatchLane>
    /// Counts the operations that nothing waits for.
    private let running = EndCounter()
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody, isInline: Bool = false) {
        self.plan = plan
        self.body = body
        self.isInline = isInline
        successors = Successors(plan)
        lanes = QueueTable(plan) { DispatchLane(for: plan, limit: $0) }
    }

    deinit {
        lanes.deallocate()
        running.deallocate()
        successors.deallocate()
    }

    // MARK: Phases

    func build() { running.begin(successors.endCount) }

    func submit(_ part: Range<Int>) { for head in successors.heads { submit(head) } }

    func release() { for lane in lanes.queues { lane.resume() } }

    func drain() {
        running.wait()
        // The body that submitted the last operation may still be in its call, on the pumps of another lane.
        if plan.limit ?? 1 > 1 { for lane in lanes.queues { lane.drain() } }
        notifications.wait()
    }

    func teardown() {}

    func suspend() { for lane in lanes.queues { lane.suspend() } }

    func resume() { for lane in lanes.queues { lane.resume() } }

    // MARK: Operations

    private func submit(_ operation: Int) {
        // The backend outlives its operations, since `drain` waits for them.
        let backend = Unretained(self)
        let work: @Sendable () -> Void = { backend { $0.runAndRelease(operation) } }
        let lane = lanes.queue(of: operation, in: plan)
        lane { lane in
            guard body.takesStamps else { return lane.async(work) }
            // The operation may end before this call has returned; `drain` must not.
            running.begin(1)
            body.willSubmit(operation)
            if body.wantsNotification(operation) {
                lane.async(work, thenNotify: notifications.block(operation, body))
            } else {
                lane.async(work)
            }
            body.didSubmit(operation)
            running.end()
        }
    }

    private func runAndRelease(_ operation: Int) {
        body.run(operation)
        guard isInline else {
            if successors.release(after: operation, by: { submit($0) }) { running.end() }
            return
        }
        var next = releaseButFirst(after: operation)
        while let operation = next {
            runHere(operation)
            next = releaseButFirst(after: operation)
        }
    }

    /// - Returns: the successor that the caller runs itself.
    private func releaseButFirst(after operation: Int) -> Int? {
        var first: Int?
        let isLast = successors.release(after: operation) { successor in
            if first == nil { first = successor } else { submit(successor) }
        }
        if isLast { running.end() }
        return first
    }

    /// Runs an operation where its predecessor ran, without the queue.
    private func runHere(_ operation: Int) {
        let end = body.wantsNotification(operation) ? makeEnd(of: operation) : nil
        body.willSubmit(operation)
        body.didSubmit(operation)
        body.run(operation)
        end?.leave()
    }

    /// A group to be left when the operation has ended; its `notify` is the completion block.
    private func makeEnd(of operation: Int) -> DispatchGroup {
        let end = DispatchGroup()
        end.enter()
        end.notify(queue: lanes.queues[0].queue, execute: notifications.block(operation, body))
        return end
    }
}

import Dispatch
import OpBenchModel

/// Chains, graphs and replays as Swift tasks, each of which makes the tasks of the successors that it made ready.
final class TaskGraph: RoundBackend, @unchecked Sendable {
    private let plan: WorkloadPlan
    private let body: OperationBody
    private var lanes: [TaskLane] = []
    /// Entered for each operation that nothing waits for, until it has ended; in a replay for every operation.
    private let running = DispatchGroup()
    private let notifications = Notifications()
    private var successors: Successors?
    /// By class; empty without.
    private let priorities: [TaskPriority]
    /// The operations of a replay that were cancelled; nil if none is to be.
    private let cancelled: CancellationFlags?

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
        priorities = plan.taskPriorities
        cancelled = plan.cancellation.map { _ in CancellationFlags(count: plan.operationCount) }
    }

    static func support(_ plan: WorkloadPlan) -> Support {
        if plan.chains?.queues ?? 1 > 1, plan.limit == nil {
            return .unsupported(reason: "tasks are in no queue that a dependency could cross")
        }
        return .full(note: "each task makes the tasks of the successors that it made ready")
    }

    // MARK: Phases

    func build() {
        // The backend outlives its tasks, since `drain` waits for them: no reference counting on the shared object.
        unowned(unsafe) let backend = self
        lanes = plan.queueLimits.map { limit in
            TaskLane(
                limit: limit, canBeHeld: false, isHeld: plan.startsSuspended, body: { backend.run($0) },
                after: { backend.ended($0) })
        }
        let sinks = plan.replay == nil ? plan.chains?.count ?? plan.graph?.sinks.count : plan.operationCount
        for _ in 0..<(sinks ?? 0) { running.enter() }
        successors = Successors(plan)
    }

    func submit(_ part: Range<Int>) {
        guard let successors else { return }
        if successors.awaitsArrivals {
            for operation in part { arrive(operation, successors) }
        } else {
            for head in successors.heads { submit(head) }
        }
    }

    func cancel(_ part: Range<Int>) { for operation in part { cancelled?.set(operation) } }

    func release() { for lane in lanes { lane.open() } }

    func drain() {
        running.wait()
        notifications.wait()
    }

    func teardown() {
        lanes = []
        successors?.deallocate()
        successors = nil
    }

    func suspend() { for lane in lanes { lane.hold() } }

    func resume() { for lane in lanes { lane.open() } }

    // MARK: Parts

    private func arrive(_ operation: Int, _ successors: Successors) {
        body.willSubmit(operation)
        if successors.arrive(operation) { submitArrived(operation) }
        body.didSubmit(operation)
    }

    private func submitArrived(_ operation: Int) {
        let priority = priorities.isEmpty ? nil : priorities[Int(plan.classes!.ofOperation[operation])]
        let lane = lanes[plan.queueIndex(of: operation)]
        guard body.wantsNotification(operation) else {
            lane.submit(operation, priority: priority)
            return
        }
        let notification = notifications.block(operation, body)
        notifications.call(notification, after: lane.submit(operation, priority: priority))
    }

    private func run(_ operation: Int) {
        if let cancelled, cancelled.isSet(operation) { body.didEndCancelled(operation) } else { body.run(operation) }
    }

    /// Called by tasks as well. Once the task is made, all may end and the backend be gone, unless `running` is
    /// entered.
    private func submit(_ operation: Int) {
        let lane = lanes[plan.queueIndex(of: operation)]
        guard body.takesStamps else {
            lane.submit(operation)
            return
        }
        running.enter()
        defer { running.leave() }
        body.willSubmit(operation)
        let task = lane.submit(operation)
        body.didSubmit(operation)
        if body.wantsNotification(operation) {
            notifications.call(notifications.block(operation, body), after: task)
        }
    }

    private func ended(_ operation: Int) {
        guard let successors else { return }
        let awaitsArrivals = successors.awaitsArrivals
        let isLast = successors.release(after: operation) { awaitsArrivals ? submitArrived($0) : submit($0) }
        if isLast || awaitsArrivals { running.leave() }
    }
}

import Dispatch
import OpBenchModel

/// Tasks that go on after they have been suspended, each for one or several operations of the plan: what stands for
/// operations that end later than their body. A subclass says what a task does.
///
/// A limit is so many permits, which a task keeps until its operations have ended.
class TaskRound: Backend, @unchecked Sendable {
    let plan: WorkloadPlan
    let body: OperationBody
    private let gate: TaskGate?
    /// Entered for each task until it has ended.
    private let running = DispatchGroup()
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
        gate =
            plan.limit != nil || plan.startsSuspended
            ? TaskGate(permits: plan.limit, isHeld: plan.startsSuspended) : nil
    }

    func build() {}

    func submit(_ part: Range<Int>) {
        for operation in part {
            body.willSubmit(operation)
            start(operation..<operation + 1, isTimed: body.wantsNotification(operation))
            body.didSubmit(operation)
        }
    }

    /// Makes the task of some operations.
    ///
    /// - Parameter isTimed: whether another task is to await its end and to say when it heard of it.
    func start(_ operations: Range<Int>, isTimed: Bool) {
        running.enter()
        // The round outlives its tasks, since `drain` waits for them.
        unowned(unsafe) let round = self
        let task = Task { [running] in
            await round.gate?.enter()
            await round.perform(operations)
            round.gate?.leave()
            running.leave()
        }
        guard isTimed else { return }
        let notification = notifications.block(operations, body)
        Task {
            await task.value
            notification()
        }
    }

    /// Returns when they have ended.
    func perform(_ operations: Range<Int>) async {}

    func release() { gate?.letGo() }

    func drain() {
        running.wait()
        notifications.wait()
    }

    func teardown() {}

    func suspend() { gate?.hold() }

    func resume() { gate?.letGo() }
}

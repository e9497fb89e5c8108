import Dispatch
import OpBenchModel

/// Tasks that continue after a suspension, each for one or several operations of the plan: the form of operations that
/// end later than their body. A subclass defines the task.
///
/// A limit is a number of permits; a task keeps one until its operations have ended.
class TaskRound: RoundBackend, @unchecked Sendable {
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

    func submit(_ part: Range<Int>) {
        for operation in part {
            body.willSubmit(operation)
            start(operation..<operation + 1, isTimed: body.wantsNotification(operation))
            body.didSubmit(operation)
        }
    }

    /// Makes the task of some operations.
    ///
    /// - Parameter isTimed: whether another task awaits its end and records when it was notified.
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
        if isTimed { notifications.call(notifications.block(operations, body), after: task) }
    }

    /// Returns when they have ended.
    func perform(_ operations: Range<Int>) async {}

    func release() { gate?.open() }

    func drain() {
        running.wait()
        notifications.wait()
    }

    func teardown() {}

    func suspend() { gate?.hold() }

    func resume() { gate?.open() }
}

/// Tasks that await a continuation, which the announcement of the end resumes.
final class TaskAsynchronous: TaskRound, @unchecked Sendable {
    private struct Unended: Sendable {
        let operation: Int
        let continuation: UnsafeContinuation<Void, Never>

        func end(_ body: OperationBody) {
            body.didAnnounceEnd(operation)
            continuation.resume()
        }
    }

    private let ender: EndingThread<Unended>?

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        ender = plan.announcedEnd == .thread ? EndingThread { $0.end(body) } : nil
        super.init(plan, body)
    }

    override func perform(_ operations: Range<Int>) async {
        let operation = operations.lowerBound
        await withUnsafeContinuation { continuation in
            body.run(operation)
            let unended = Unended(operation: operation, continuation: continuation)
            if let ender { ender.take(unended) } else { unended.end(body) }
        }
    }

    override func teardown() { ender?.dismiss() }
}

/// A task group for each group of blocks, with a child for each block.
final class TaskGroups: TaskRound, @unchecked Sendable {
    override func submit(_ part: Range<Int>) {
        for group in plan.groups(of: part) {
            body.submitTogether(group, in: plan) { start(group, isTimed: body.takesStamps) }
        }
    }

    override func perform(_ operations: Range<Int>) async {
        let body = body
        await withDiscardingTaskGroup { group in
            for operation in operations { group.addTask { body.run(operation) } }
        }
    }
}

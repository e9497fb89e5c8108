import Dispatch
import OpBenchModel

/// Task groups without a lane: each producer's part is a group, a limit is a window of children.
final class TaskGroupLoop: RoundBackend, @unchecked Sendable {
    private let plan: WorkloadPlan
    private let body: OperationBody
    private let notifications = Notifications()
    /// Entered for each group.
    private let running = DispatchGroup()

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
    }

    func submit(_ part: Range<Int>) {
        running.enter()
        Task { [self] in
            if let limit = plan.limit { await runInWindow(of: limit, part) } else { await runAtOnce(part) }
            running.leave()
        }
    }

    func drain() {
        running.wait()
        notifications.wait()
    }

    private func runAtOnce(_ part: Range<Int>) async {
        await withDiscardingTaskGroup { group in
            for operation in part {
                let work = work(of: operation)
                body.willSubmit(operation)
                group.addTask(operation: work)
                body.didSubmit(operation)
            }
        }
    }

    private func runInWindow(of limit: Int, _ part: Range<Int>) async {
        await withTaskGroup(of: Void.self) { group in
            for operation in part {
                if operation - part.lowerBound >= limit { await group.next() }
                let work = work(of: operation)
                body.willSubmit(operation)
                group.addTask(operation: work)
                body.didSubmit(operation)
            }
        }
    }

    /// Nobody can wait for one child: where an operation has a completion block, its own task starts another for it.
    private func work(of operation: Int) -> @Sendable () async -> Void {
        let body = body
        guard plan.hasCompletionBlocks, body.wantsNotification(operation) else { return { body.run(operation) } }
        let notification = notifications.block(operation, body)
        return {
            body.run(operation)
            Task { notification() }
        }
    }
}

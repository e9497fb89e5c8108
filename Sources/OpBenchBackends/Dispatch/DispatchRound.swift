import Dispatch
import OpBenchModel

/// One lane and one closure an operation: what the shapes about single features start from. A subclass says what is
/// different.
class DispatchRound: Backend, @unchecked Sendable {
    let plan: WorkloadPlan
    let body: OperationBody
    let lane: DispatchLane
    let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
        lane = DispatchLane(limit: plan.limit, isSuspended: plan.startsSuspended)
    }

    func build() {}

    func work(_ operation: Int) -> @Sendable () -> Void { { [body] in body.run(operation) } }

    func submit(_ part: Range<Int>) {
        for operation in part {
            body.willSubmit(operation)
            if body.wantsNotification(operation), plan.hasCompletionBlocks {
                lane.async(work(operation), thenNotify: notifications.block(operation, body))
            } else {
                lane.async(work(operation))
            }
            body.didSubmit(operation)
        }
    }

    func release() { lane.resume() }

    func drain() {
        lane.drain()
        notifications.wait()
    }

    func teardown() {}

    func suspend() { lane.suspend() }

    func resume() { lane.resume() }
}

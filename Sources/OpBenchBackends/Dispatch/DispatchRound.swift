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
        lane = DispatchLane(for: plan)
    }

    func build() {}

    /// An operation's closure, which tells the lane of its end.
    func work(_ operation: Int) -> @Sendable () -> Void {
        // The round outlives its operations, since `drain` waits for them: no reference counting on the shared object.
        let round = Unretained(self)
        return {
            round {
                $0.body.run(operation)
                $0.lane.didEnd()
            }
        }
    }

    func submit(_ part: Range<Int>) {
        lane.willSubmit(part.count)
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

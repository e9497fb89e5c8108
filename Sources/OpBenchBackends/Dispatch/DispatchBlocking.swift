import Dispatch
import OpBenchModel

/// Operations that block their threads.
///
/// At an explicit limit k, k serial queues of which each gets a thread of its own at once, so that blocked threads hold
/// nobody up; a concurrent queue, whose threads are meant for processors, adds threads about once a second. At the
/// default limit that queue, the system's choice. An operation that waits for another waits on a semaphore.
final class DispatchBlocking: Backend, @unchecked Sendable {
    private let body: OperationBody
    private let lanes: [DispatchLane]
    private let notifications = Notifications()
    private let signals: [DispatchSemaphore]

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.body = body
        lanes =
            plan.limit.map { limit in
                (0..<limit).map { _ in DispatchLane(for: plan, limit: 1) }
            } ?? [DispatchLane(for: plan)]
        let count = plan.blocking?.kind == .wait ? plan.operationCount / 2 : 0
        signals = (0..<count).map { _ in DispatchSemaphore(value: 0) }
    }

    func build() {
        // The backend outlives its operations, since `drain` waits for them.
        unowned(unsafe) let backend = self
        body.setWait { backend.signals[$0 / 2].wait() }
    }

    func submit(_ part: Range<Int>) {
        for operation in part {
            body.willSubmit(operation)
            let lane = lanes[operation % lanes.count]
            lane.willSubmit(1)
            if body.wantsNotification(operation) {
                lane.async(closure(operation, on: lane), thenNotify: notifications.block(operation, body))
            } else {
                lane.async(closure(operation, on: lane))
            }
            body.didSubmit(operation)
        }
    }

    private func closure(_ operation: Int, on lane: DispatchLane) -> @Sendable () -> Void {
        let lane = Unretained(lane)
        guard operation % 2 == 1, operation / 2 < signals.count else {
            return { [body] in
                body.run(operation)
                lane { $0.didEnd() }
            }
        }
        return { [body, signal = signals[operation / 2]] in
            body.run(operation)
            signal.signal()
            lane { $0.didEnd() }
        }
    }

    func release() { for lane in lanes { lane.resume() } }
    func drain() {
        for lane in lanes { lane.drain() }
        notifications.wait()
    }
    func teardown() {}
    func suspend() { for lane in lanes { lane.suspend() } }
    func resume() { for lane in lanes { lane.resume() } }
}

import Dispatch
import OpBenchModel

/// Chains whose links are groups, entered until they have ended, and whose `notify` submits the next.
final class DispatchChains: RoundBackend, @unchecked Sendable {
    private let plan: WorkloadPlan
    private let chains: WorkloadPlan.Chains
    private let body: OperationBody
    private var lanes: [DispatchLane] = []
    /// By operation.
    private var links: [DispatchGroup] = []
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
        chains = plan.chains ?? .init(depth: 1, count: plan.operationCount, queues: 1)
    }

    func build() {
        lanes = (0..<chains.queues).map { _ in DispatchLane(for: plan) }
        links.reserveCapacity(plan.operationCount)
        for _ in 0..<plan.operationCount {
            let link = DispatchGroup()
            link.enter()
            links.append(link)
        }
    }

    func submit(_ part: Range<Int>) { for index in part { submit(plan.operation(at: index)) } }

    func release() { for lane in lanes { lane.resume() } }

    func drain() {
        for last in links.suffix(chains.count) { last.wait() }
        notifications.wait()
    }

    func teardown() {
        links = []
        lanes = []
    }

    func suspend() { for lane in lanes { lane.suspend() } }

    func resume() { for lane in lanes { lane.resume() } }

    private func submit(_ operation: Int) {
        let lane = lanes[plan.queueIndex(of: operation)]
        let link = links[operation]
        let work: @Sendable () -> Void = { [body] in
            body.run(operation)
            link.leave()
        }
        if body.wantsNotification(operation) {
            link.notify(queue: lane.queue, execute: notifications.block(operation, body))
        }
        body.willSubmit(operation)
        if operation < chains.count {
            lane.submit(work)
        } else if plan.limit ?? 1 > 1 {
            links[operation - chains.count].notify(queue: lane.queue) { lane.submit(work) }
        } else {
            links[operation - chains.count].notify(queue: lane.queue, execute: work)
        }
        body.didSubmit(operation)
    }
}

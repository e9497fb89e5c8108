import Dispatch
import OpBenchModel

/// Chains of which the links are handed over before the first has ended: as groups, or in the order of serial queues.
final class DispatchChains: Backend, @unchecked Sendable {
    enum ChainForm: Sendable {
        case notify, serial
    }

    private let plan: WorkloadPlan
    private let chains: WorkloadPlan.Chains
    private let body: OperationBody
    private let form: ChainForm
    private var lanes: [DispatchLane] = []
    /// `notify`: one for each operation, entered until it has ended.
    private var links: [DispatchGroup] = []
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody, _ form: ChainForm) {
        self.plan = plan
        self.body = body
        self.form = form
        chains = plan.chains ?? .init(depth: 1, count: plan.operationCount, queues: 1)
    }

    static func support(_ plan: WorkloadPlan, _ form: ChainForm) -> Support {
        guard form == .serial else { return .full() }
        if plan.chains?.queues ?? 1 > 1 {
            return .unsupported(reason: "the order of one serial queue says nothing of another")
        }
        return plan.limit ?? 1 > 1
            ? .unsupported(reason: "serial queues have no common limit")
            : .full(note: "the order of a serial queue stands in for dependencies")
    }

    func build() {
        let hasLaneEach = form == .serial && plan.limit == nil
        lanes = (0..<(hasLaneEach ? chains.count : chains.queues)).map { _ in
            DispatchLane(for: plan, limit: hasLaneEach ? 1 : plan.limit)
        }
        guard form == .notify else { return }
        links.reserveCapacity(plan.operationCount)
        for _ in 0..<plan.operationCount {
            let link = DispatchGroup()
            link.enter()
            links.append(link)
        }
    }

    func submit(_ part: Range<Int>) {
        switch form {
        case .notify:
            for index in part { submitNotified(plan.operation(at: index)) }
        case .serial:
            for operation in part {
                let lane = lanes[operation % lanes.count]
                body.willSubmit(operation)
                if body.wantsNotification(operation) {
                    lane.async({ [body] in body.run(operation) }, thenNotify: notifications.block(operation, body))
                } else {
                    lane.async { [body] in body.run(operation) }
                }
                body.didSubmit(operation)
            }
        }
    }

    func release() { for lane in lanes { lane.resume() } }

    func drain() {
        switch form {
        case .notify: for last in links.suffix(chains.count) { last.wait() }
        case .serial: for lane in lanes { lane.drain() }
        }
        notifications.wait()
    }

    func teardown() {
        links = []
        lanes = []
    }

    func suspend() { for lane in lanes { lane.suspend() } }

    func resume() { for lane in lanes { lane.resume() } }

    private func submitNotified(_ operation: Int) {
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
            lane.async(work)
        } else if plan.limit ?? 1 > 1 {
            links[operation - chains.count].notify(queue: lane.queue) { lane.async(work) }
        } else {
            links[operation - chains.count].notify(queue: lane.queue, execute: work)
        }
        body.didSubmit(operation)
    }
}

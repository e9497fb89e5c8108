import Dispatch
import OpBenchModel

/// Chains on Dispatch, in the forms that `DispatchBackend` describes.
final class DispatchChains: Backend, @unchecked Sendable {
    enum ChainForm: Sendable {
        case within, notify, serial

        /// Whether all links can wait in a suspended queue: in `within`, a successor is not submitted before its time.
        var holdsPending: Bool { self != .within }
    }

    private let plan: WorkloadPlan
    private let chains: WorkloadPlan.Chains
    private let body: OperationBody
    private let form: ChainForm
    private var lanes: [DispatchLane] = []
    /// `notify`: one for each operation, entered until it has ended.
    private var links: [DispatchGroup] = []
    /// `within`: entered once a chain.
    private let running = DispatchGroup()
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody, _ form: ChainForm) {
        self.plan = plan
        self.body = body
        self.form = form
        chains = plan.chains ?? .init(depth: 1, count: plan.operationCount, queues: 1)
    }

    static func support(_ plan: WorkloadPlan, _ form: ChainForm) -> Support {
        guard let chains = plan.chains else { return .unsupported(reason: "a form of chains only") }
        switch form {
        case .notify: return .full()
        case .within where chains.queues > 1, .serial where chains.queues > 1:
            return .unsupported(reason: "dependencies across queues are expressed by notify")
        case .within: return .full(note: "each body submits its successor")
        case .serial where plan.limit ?? 1 > 1: return .unsupported(reason: "serial queues have no common limit")
        case .serial: return .full(note: "the order of a serial queue stands in for dependencies")
        }
    }

    func build() {
        let hasLaneEach = form != .notify && plan.limit == nil
        let laneCount = hasLaneEach ? chains.count : chains.queues
        let limit = hasLaneEach ? 1 : plan.limit
        lanes = (0..<laneCount).map { _ in DispatchLane(limit: limit, isSuspended: plan.startsSuspended) }
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
        case .within:
            for head in 0..<chains.count {
                running.enter()
                submitWithin(head)
            }
        case .notify:
            for index in part { submitNotified(plan.operation(at: index)) }
        case .serial:
            for operation in part {
                body.willSubmit(operation)
                submit(operation, to: lanes[operation % lanes.count]) { [body] in body.run(operation) }
                body.didSubmit(operation)
            }
        }
    }

    func release() { for lane in lanes { lane.resume() } }

    func drain() {
        switch form {
        case .within: running.wait()
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

    private func submitWithin(_ operation: Int) {
        // The backend outlives the chain, since `drain` waits for it: no reference counting on the shared object.
        unowned(unsafe) let backend = self
        let lane = lanes[operation % lanes.count]
        guard body.takesStamps else { return lane.async { backend.runAndSubmitNext(operation) } }
        // On pumps the chain may end before this call has returned; `drain` must not.
        running.enter()
        body.willSubmit(operation)
        submit(operation, to: lane) { backend.runAndSubmitNext(operation) }
        body.didSubmit(operation)
        running.leave()
    }

    @inline(__always)
    private func submit(_ operation: Int, to lane: DispatchLane, _ work: @escaping @Sendable () -> Void) {
        guard body.wantsNotification(operation) else { return lane.async(work) }
        lane.async(work, thenNotify: notifications.block(operation, body))
    }

    private func runAndSubmitNext(_ operation: Int) {
        body.run(operation)
        let next = operation + chains.count
        if next < plan.operationCount { submitWithin(next) } else { running.leave() }
    }

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

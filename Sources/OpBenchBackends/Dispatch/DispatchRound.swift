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

/// Barriers on a concurrent queue, by its own flag; on a serial queue everything is one.
final class DispatchBarriers: DispatchRound, @unchecked Sendable {
    static func support(_ plan: WorkloadPlan) -> Support {
        if plan.limit ?? 1 > 1 {
            return .unsupported(reason: "a queue with barriers has no limit between one and the system's choice")
        }
        return .full(note: plan.limit == nil ? "" : "on a serial queue everything is a barrier")
    }

    override func submit(_ part: Range<Int>) {
        guard let barriers = plan.barriers else { return }
        let round = Unretained(self)
        lane.willSubmit(part.count)
        for operation in part {
            body.willSubmit(operation)
            if barriers.isBarrier(operation) {
                lane.queue.async(flags: .barrier) {
                    round {
                        $0.body.runBarrier(operation)
                        $0.lane.didEnd()
                    }
                }
            } else {
                lane.async {
                    round {
                        $0.body.runBesideOthers(operation)
                        $0.lane.didEnd()
                    }
                }
            }
            body.didSubmit(operation)
        }
    }
}

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

/// Work items that are performed by hand.
final class DispatchByHand: DispatchRound, @unchecked Sendable {
    private var items: [DispatchWorkItem] = []

    override func build() {
        items.reserveCapacity(plan.operationCount)
        for operation in 0..<plan.operationCount {
            let item = DispatchWorkItem(block: work(operation))
            if body.wantsNotification(operation) {
                item.notify(queue: lane.queue, execute: notifications.block(operation, body))
            }
            items.append(item)
        }
    }

    override func submit(_ part: Range<Int>) {
        lane.willSubmit(part.count)
        for operation in part {
            body.willStart(operation)
            items[operation].perform()
        }
    }

    override func teardown() { items = [] }
}

/// One closure a group, which runs the blocks by `concurrentPerform` and ends when all have.
final class DispatchGroups: DispatchRound, @unchecked Sendable {
    override func submit(_ part: Range<Int>) {
        let round = Unretained(self)
        for group in plan.groups(of: part) {
            let work: @Sendable () -> Void = {
                round { round in
                    DispatchQueue.concurrentPerform(iterations: group.count) { round.body.run(group.lowerBound + $0) }
                    round.lane.didEnd()
                }
            }
            lane.willSubmit(1)
            body.submitTogether(group, in: plan) {
                if body.takesStamps {
                    lane.async(work, thenNotify: notifications.block(group, body))
                } else {
                    lane.async(work)
                }
            }
        }
    }
}

/// Closures that wait in a lane, with what they keep: memory fences.
///
/// Counted by a group, which an operation leaves when Dispatch has released its closure: what it keeps is gone when `drain`
/// returns.
final class DispatchLaden: DispatchRound, @unchecked Sendable {
    private let group = DispatchGroup()

    override func submit(_ part: Range<Int>) {
        let bytes = plan.ballast?.bytes ?? 0
        for operation in part {
            let work = body.closure(operation, payloadBytes: bytes)
            body.willSubmit(operation)
            if body.wantsNotification(operation), plan.hasCompletionBlocks {
                lane.async(work, thenNotify: notifications.block(operation, body))
            } else {
                lane.async(in: group, work)
            }
            body.didSubmit(operation)
        }
    }

    override func drain() {
        super.drain()
        group.wait()
    }
}

/// Closures that call their observers as their last act.
final class DispatchObserved: DispatchRound, @unchecked Sendable {
    private let count: Int

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        count = plan.observers ?? 0
        super.init(plan, body)
    }

    override func work(_ operation: Int) -> @Sendable () -> Void {
        guard count > 0 else { return super.work(operation) }
        let round = Unretained(self)
        let observers = (0..<count).map { _ in { @Sendable in round { $0.body.didNotice(operation) } } }
        return {
            round {
                $0.body.run(operation)
                for observer in observers { observer() }
                $0.lane.didEnd()
            }
        }
    }
}

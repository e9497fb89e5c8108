import Dispatch
import OpBenchModel

/// Cancellation on Dispatch.
///
/// - The fastest form: a flag an operation, at which its closure looks first; or one flag for all.
/// - `item`: a DispatchWorkItem an operation, and its own `cancel()`.
final class DispatchCancelling: Backend, @unchecked Sendable {
    enum CancellationForm: Sendable {
        case flag, item
    }

    private let plan: WorkloadPlan
    private let cancellation: Cancellation
    private let body: OperationBody
    private let form: CancellationForm
    private var lane: DispatchLane?
    private var flags: CancellationFlags?
    private var items: [DispatchWorkItem] = []
    /// `item`: the closure of a cancelled item never runs, so the items are counted by a group.
    private let group = DispatchGroup()
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody, _ form: CancellationForm) {
        self.plan = plan
        guard let cancellation = plan.cancellation else { preconditionFailure("a plan that cancels nothing") }
        self.cancellation = cancellation
        self.body = body
        self.form = form
    }

    func build() {
        lane = DispatchLane(for: plan)
        switch form {
        case .flag: flags = CancellationFlags(count: cancellation.call == .all ? 1 : plan.operationCount)
        case .item:
            items.reserveCapacity(plan.operationCount)
            for operation in 0..<plan.operationCount {
                items.append(DispatchWorkItem { [body] in body.run(operation) })
            }
        }
    }

    func submit(_ part: Range<Int>) {
        guard let lane else { return }
        guard let flags else {
            for operation in part {
                body.willSubmit(operation)
                lane.async(items[operation], in: group)
                body.didSubmit(operation)
                guard body.wantsNotification(operation) else { continue }
                items[operation].notify(queue: lane.queue, execute: notifications.block(operation, body))
            }
            return
        }
        // Both outlive the closures, since `drain` waits for these.
        let (shared, ending) = (Unretained(flags), Unretained(lane))
        lane.willSubmit(part.count)
        let step = cancellation.call == .all ? 0 : 1
        for operation in part {
            body.willSubmit(operation)
            let work: @Sendable () -> Void = { [body] in
                if shared({ $0.isSet(operation * step) }) {
                    body.didEndCancelled(operation)
                } else {
                    body.run(operation)
                }
                ending { $0.didEnd() }
            }
            if body.wantsNotification(operation) {
                lane.async(work, thenNotify: notifications.block(operation, body))
            } else {
                lane.async(work)
            }
            body.didSubmit(operation)
        }
    }

    func cancel(_ part: Range<Int>) {
        if let flags, cancellation.call == .all { return flags.set(0) }
        for operation in part where cancellation.isChosen[operation] {
            if let flags { flags.set(operation) } else { items[operation].cancel() }
        }
    }

    func attest() {
        for (operation, item) in items.enumerated() where item.isCancelled { body.didEndCancelled(operation) }
    }

    func release() { lane?.resume() }
    func drain() {
        lane?.drain()
        group.wait()
        notifications.wait()
    }
    func suspend() { lane?.suspend() }
    func resume() { lane?.resume() }

    func teardown() {
        items = []
        lane = nil
        flags = nil
    }
}

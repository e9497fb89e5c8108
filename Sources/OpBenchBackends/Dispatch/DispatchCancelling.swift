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
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody, _ form: CancellationForm) {
        self.plan = plan
        guard let cancellation = plan.cancellation else { preconditionFailure("a plan that cancels nothing") }
        self.cancellation = cancellation
        self.body = body
        self.form = form
    }

    func build() {
        lane = DispatchLane(limit: plan.limit, isSuspended: plan.startsSuspended)
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
                lane.async(items[operation])
                body.didSubmit(operation)
                guard body.wantsNotification(operation) else { continue }
                items[operation].notify(queue: lane.queue, execute: notifications.block(operation, body))
            }
            return
        }
        // The flags outlive the closures, since `drain` waits for these.
        unowned(unsafe) let shared = flags
        let step = cancellation.call == .all ? 0 : 1
        for operation in part {
            body.willSubmit(operation)
            let work: @Sendable () -> Void = { [body] in
                if shared.isSet(operation * step) { body.didEndCancelled(operation) } else { body.run(operation) }
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

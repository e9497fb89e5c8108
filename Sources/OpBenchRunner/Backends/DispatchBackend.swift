import OpBenchModel

/// Raw Dispatch: the baseline of every ratio, and therefore in the fastest form that opbench ships for each shape.
///
/// | shape | limit default | limit 1 | limit k |
/// |---|---|---|---|
/// | independent, suspend_resume, wakeup | `async(group:)` on one concurrent queue | one serial queue | k pumps draining one locked FIFO |
/// | chain, one queue | `within`, a serial queue a chain | `within`, one serial queue | `within` on k pumps |
/// | chain across queues | `notify` | `notify` on serial queues | `notify` on k pumps each |
/// | priority_mix | five global queues by quality of service | unsupported | unsupported |
/// | thread_priority | the same, if quality of service changes the nice value here | unsupported | unsupported |
///
/// A bulk is a loop of `async`. A refill is a group a batch, whose `notify` submits the next batch. Where operations are
/// submitted to a suspended queue, and in a storm, the queue's own `suspend()` and `resume()` serve; pumps look at a flag
/// between two jobs as well, and global queues, which cannot be suspended, are replaced by concurrent queues of the same
/// quality of service.
///
/// The forms of a chain beside it:
/// - `dispatch:within`: each body submits its successor as its last act. The successor must be known to it. On a serial
///   queue of the chain's own this takes half the time that it takes on a concurrent queue.
/// - `dispatch:notify`: each operation is a group; its `notify` submits the successor. The general form of a dependency.
/// - `dispatch:serial`: a serial queue a chain, so that order stands in for dependency.
enum DispatchBackend {
    static let factory = BackendFactory(
        id: .dispatch, guarantees: [], support: support, canHoldPending: canHoldPending, make: make)

    static let within = chainFactory("dispatch:within", .within)
    static let notify = chainFactory("dispatch:notify", .notify)
    static let serial = chainFactory("dispatch:serial", .serial)

    private static func support(_ plan: WorkloadPlan) -> Support {
        switch plan.shape {
        case .independent, .suspendResume, .wakeup: .full()
        case .chain: DispatchChains.support(plan, fastestForm(of: plan))
        case .priorityMix, .threadPriority: DispatchLevels.support(plan)
        }
    }

    private static func canHoldPending(_ plan: WorkloadPlan) -> Bool {
        plan.shape == .chain ? fastestForm(of: plan).holdsPending : !plan.isRefill
    }

    private static func make(_ plan: WorkloadPlan, _ body: OperationBody) -> any Backend {
        switch plan.shape {
        case .independent, .suspendResume, .wakeup: DispatchLoop(plan, body)
        case .chain: DispatchChains(plan, body, fastestForm(of: plan))
        case .priorityMix, .threadPriority: DispatchLevels(plan, body)
        }
    }

    private static func fastestForm(of plan: WorkloadPlan) -> DispatchChains.Form {
        (plan.chains?.queues ?? 1) > 1 ? .notify : .within
    }

    private static func chainFactory(_ name: String, _ form: DispatchChains.Form) -> BackendFactory {
        BackendFactory(
            id: BackendID(rawValue: name), guarantees: [], support: { DispatchChains.support($0, form) },
            canHoldPending: { _ in form.holdsPending }, make: { DispatchChains($0, $1, form) })
    }
}

import OpBenchModel

/// Raw Dispatch: the baseline of every ratio, and therefore in the fastest form that opbench ships for each shape.
///
/// | shape | limit default | limit 1 | limit k |
/// |---|---|---|---|
/// | independent, suspend_resume, wakeup, open_loop | `async(group:)` on one concurrent queue | one serial queue | k pumps draining one locked FIFO |
/// | chain, one queue | `within`, a serial queue a chain | `within`, one serial queue | `within` on k pumps |
/// | chain across queues | `notify` | `notify` on serial queues | `notify` on k pumps each |
/// | graph | `within` on one concurrent queue | `within`, one serial queue | `within` on k pumps |
/// | cancel_storm | a flag an operation, at which its closure looks first, on queues as for independent | … | … |
/// | blocking | one concurrent queue | one serial queue | k serial queues dealt to in turn, a thread each |
/// | memory_fence, observers | as independent | … | … |
/// | barriers | `async(flags: .barrier)` on one concurrent queue | one serial queue | unsupported |
/// | block_groups | as independent, a closure a group, in it `concurrentPerform` | … | … |
/// | asynchronous | one concurrent queue | … of which an end starts the next | … the same |
/// | manual_start | `perform` of work items | – | – |
/// | priority_mix | five global queues by quality of service | unsupported | unsupported |
/// | thread_priority | the same, if quality of service changes the nice value here | unsupported | unsupported |
///
/// A bulk is a loop of `async`. A refill is a group a batch, whose `notify` submits the next batch. Where operations are
/// submitted to a suspended queue, and in a storm, the queue's own `suspend()` and `resume()` serve; pumps look at a flag
/// between two jobs as well, and global queues, which cannot be suspended, are replaced by concurrent queues of the same
/// quality of service.
///
/// The forms beside it:
/// - `dispatch:within`: each body submits its successors as its last act: in a chain the one, in a graph those whose other
///   predecessors have ended, by an atomic counter each. They must be known to it. On a serial queue of the chain's own this
///   takes half the time that it takes on a concurrent queue.
/// - `dispatch:notify`: groups stand for dependencies. In a chain each operation is a group whose `notify` submits the
///   successor; in a graph each has a group that its predecessors leave, and whose `notify` submits it. The general form.
/// - `dispatch:serial`: a serial queue a chain, so that order stands in for dependency.
/// - `dispatch:inline`: as `within`, but a body goes on with the first successor that it made ready, without the queue. Not
///   the baseline, since what runs so was never scheduled: a chain would be a plain loop.
enum DispatchBackend {
    static let factory = BackendFactory(
        id: .dispatch, guarantees: [], support: support, canHoldPending: canHoldPending, make: make)

    static let within = form("dispatch:within", chains: .within, graphs: .within)
    static let notify = form("dispatch:notify", chains: .notify, graphs: .notify)
    static let serial = form("dispatch:serial", chains: .serial)
    static let inline = form("dispatch:inline", graphs: .inline)

    private static func support(_ plan: WorkloadPlan) -> Support {
        switch plan.shape {
        case .independent, .suspendResume, .wakeup, .openLoop, .memoryFence: .full()
        case .cancelStorm: .full(note: "a flag per operation, read by its closure")
        case .blocking: .full(note: plan.limit == nil ? "" : "one serial queue per slot of the limit")
        case .observers: .full(note: plan.observers == 0 ? "" : "each closure calls its observers as its last act")
        case .barriers where plan.limit ?? 1 > 1:
            .unsupported(reason: "a queue with barriers has no limit between one and the system's choice")
        case .barriers: .full(note: plan.limit == nil ? "" : "on a serial queue everything is a barrier")
        case .blockGroups: .full(note: "each group runs its blocks by concurrentPerform")
        case .asynchronous: .full(note: plan.limit == nil ? "" : "whoever announces an end starts the next")
        case .manualStart: .full(note: "work items, performed")
        case .chain: DispatchChains.support(plan, fastestForm(of: plan))
        case .graph: .full(note: DispatchGraph.GraphForm.within.note)
        case .priorityMix, .threadPriority: DispatchLevels.support(plan)
        case .sequence: .unsupported(reason: "a sequence is its phases")
        }
    }

    private static func canHoldPending(_ plan: WorkloadPlan) -> Bool {
        switch plan.shape {
        case .chain: fastestForm(of: plan).holdsPending
        case .graph: DispatchGraph.GraphForm.within.holdsPending
        default: !plan.isRefill && !plan.startsByHand
        }
    }

    private static func make(_ plan: WorkloadPlan, _ body: OperationBody) -> any Backend {
        if let graph = plan.graph { return DispatchGraph(plan, graph, body, .within) }
        return switch plan.shape {
        case .cancelStorm: cancelling(plan, body, .flag)
        case .blocking: DispatchBlocking(plan, body)
        case .memoryFence: DispatchLaden(plan, body)
        case .observers: DispatchObserved(plan, body)
        case .barriers: DispatchBarriers(plan, body)
        case .blockGroups: DispatchGroups(plan, body)
        case .asynchronous: DispatchAsynchronous(plan, body)
        case .manualStart: DispatchByHand(plan, body)
        case .chain: DispatchChains(plan, body, fastestForm(of: plan))
        case .priorityMix, .threadPriority: DispatchLevels(plan, body)
        case .independent, .suspendResume, .wakeup, .openLoop, .graph, .sequence: DispatchLoop(plan, body)
        }
    }

    /// Cancellation by the work items of Dispatch.
    static let item = BackendFactory(
        id: BackendID(rawValue: "dispatch:item"), guarantees: [],
        support: { $0.cancellation == nil ? .unsupported(reason: "a form of cancellation only") : .full() },
        canHoldPending: { _ in true }, make: { cancelling($0, $1, .item) })

    private static func cancelling(
        _ plan: WorkloadPlan, _ body: OperationBody, _ form: DispatchCancelling.CancellationForm
    ) -> any Backend {
        guard let cancellation = plan.cancellation else { return DispatchLoop(plan, body) }
        return DispatchCancelling(plan, cancellation, body, form)
    }

    private static func fastestForm(of plan: WorkloadPlan) -> DispatchChains.ChainForm {
        (plan.chains?.queues ?? 1) > 1 ? .notify : .within
    }

    /// A named form, for the shapes that have it.
    private static func form(
        _ name: String, chains: DispatchChains.ChainForm? = nil, graphs: DispatchGraph.GraphForm? = nil
    ) -> BackendFactory {
        BackendFactory(
            id: BackendID(rawValue: name), guarantees: [],
            support: { plan in
                if plan.graph != nil, let graphs { return .full(note: graphs.note) }
                if plan.chains != nil, let chains { return DispatchChains.support(plan, chains) }
                let shapes = [chains.map { _ in "chains" }, graphs.map { _ in "graphs" }].compactMap(\.self)
                return .unsupported(reason: "a form of \(shapes.joined(separator: " and ")) only")
            },
            canHoldPending: { $0.graph != nil ? graphs?.holdsPending ?? false : chains?.holdsPending ?? false },
            make: { plan, body in
                guard let graph = plan.graph, let graphs else { return DispatchChains(plan, body, chains ?? .within) }
                return DispatchGraph(plan, graph, body, graphs)
            })
    }
}

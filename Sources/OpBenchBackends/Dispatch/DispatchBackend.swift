import OpBenchModel

/// Raw Dispatch: the baseline of ratios, and therefore in the fastest form that opbench ships for each shape.
///
/// | shape | limit default | limit 1 | limit k |
/// |---|---|---|---|
/// | independent, wakeup, open_loop | `async` on the global queue, and one atomic counter | one serial queue | k pumps draining one locked FIFO |
/// | refill | the last body of a batch submits the next, by an atomic counter | … | … |
/// | chain, one queue | `within`, a serial queue per chain | `within`, one serial queue | `within` on k pumps |
/// | chain across queues | `within` on the global queue | `within`, a serial queue each | `within` on k pumps each |
/// | graph | `within` on the global queue | `within`, one serial queue | `within` on k pumps |
/// | replay | as open_loop, with a queue for each recorded one; `within` where operations depend on others | … | … |
/// | cancel_storm | a flag per operation, which its closure reads first, on queues as for independent | … | … |
/// | blocking | the global queue | one serial queue | k serial queues dealt to in turn, a thread each |
/// | suspend_resume, memory_fence | as independent, on one concurrent queue of its own | … | … |
/// | observers | as independent | … | … |
/// | barriers | `async(flags: .barrier)` on one concurrent queue | one serial queue | unsupported |
/// | block_groups | as independent, a closure per group, in it `concurrentPerform` | … | … |
/// | asynchronous | the global queue | … of which an end starts the next | … the same |
/// | manual_start | `perform` of work items | – | – |
/// | priority_mix | five global queues by quality of service | unsupported | unsupported |
/// | thread_priority | the same, if quality of service changes the nice value here | unsupported | unsupported |
///
/// `within`: each body submits its successors as its last act: in a chain the one, in a graph those whose other
/// predecessors have ended, by an atomic counter each. They must be known to it. On the chain's own serial queue
/// this takes half the time that it takes on a concurrent queue.
///
/// A bulk is a loop of `async`. Where operations are submitted to a suspended queue, and in a storm, global queues,
/// which cannot be suspended, are replaced by concurrent queues with their own `suspend()` and `resume()`; they take a
/// second continuation per operation. Pumps read a flag between two jobs.
///
/// The forms beside it:
/// - `dispatch:notify`: groups replace dependencies. In a chain each operation is a group whose `notify` submits the
///   successor; in a graph each has a group that its predecessors leave, and whose `notify` submits it; in a refilled
///   queue each batch is a group, whose `notify` submits the next. The general form.
/// - `dispatch:function`: as `dispatch`, by `dispatch_async_f` with C functions, which allocate nothing except
///   Dispatch's own continuation, which it reuses.
package enum DispatchBackend {
    package static let factories = [factory, notify, function]

    static let factory = BackendFactory(id: .dispatch, guarantees: [], ways: ways)

    static let notify = form(
        "dispatch:notify",
        [
            .chain: Way(canHoldPending: { _ in true }, make: { DispatchChains($0, $1) }).on(.declared),
            .graph: Way(canHoldPending: { _ in true }, make: { DispatchGraph($0, $1) }).on(.declared),
            .independent: Way(
                support: {
                    $0.isRefill ? .full() : .unsupported(reason: "without batches dispatch itself is this form")
                },
                make: { DispatchBatches($0, $1) }
            ).on(.declared),
        ], only: "chains, graphs and refilled queues")
    static let function = form(
        "dispatch:function",
        [.independent: functions, .chain: functions, .graph: functions],
        only: "independent operations, chains and graphs")

    private static let ways: [Shape: Way] = [
        .independent: loop, .suspendResume: loop, .wakeup: loop, .openLoop: loop,
        .chain: within, .graph: within,
        .replay: Way(support: replaySupport, canHoldPending: { $0.graph == nil }, make: { DispatchRound($0, $1) })
            .on(.byHand),
        .priorityMix: Way(support: DispatchLevels.support, make: { DispatchLevels($0, $1) }),
        .threadPriority: Way(support: DispatchLevels.support, make: { DispatchLevels($0, $1) }),
        .cancelStorm: Way(note: "a flag per operation, read by its closure") { DispatchRound($0, $1) },
        .blocking: Way(
            support: { .full(note: $0.limit == nil ? "" : "one serial queue per slot of the limit") },
            make: { DispatchRound($0, $1, .perSlot) }),
        .memoryFence: Way { DispatchLaden($0, $1) },
        .observers: Way(
            support: { .full(note: $0.observers == 0 ? "" : "each closure calls its observers as its last act") },
            make: { DispatchRound($0, $1) }),
        .barriers: Way(
            support: {
                if $0.limit ?? 1 > 1 {
                    return .unsupported(
                        reason: "a queue with barriers has no limit between one and the system's choice")
                }
                return .full(note: $0.limit == nil ? "" : "on a serial queue everything is a barrier")
            }, make: { DispatchRound($0, $1) }),
        .blockGroups: Way(note: "each group runs its blocks by concurrentPerform") { DispatchGroups($0, $1) },
        .asynchronous: Way(
            support: { .full(note: $0.limit == nil ? "" : "the announcement of an end starts the next") },
            make: { DispatchAsynchronous($0, $1) }),
        .manualStart: Way(
            support: { _ in .full(note: "work items, performed") }, canHoldPending: { _ in false },
            make: { DispatchByHand($0, $1) }),
    ]

    private static func replaySupport(_ plan: WorkloadPlan) -> Support {
        if plan.classes != nil {
            return .unsupported(
                reason: "Dispatch's queues have no priorities within a limit; \(Replay.withoutPriorities)")
        }
        return .full(note: plan.replayNote(following: "each body submits what it made ready"))
    }

    private static let functions = Way(
        support: DispatchFunctions.support, canHoldPending: { _ in false }, make: { DispatchFunctions($0, $1) }
    ).on(.byHand)

    private static let loop = Way { DispatchRound($0, $1) }.on(.byHand)

    private static let within = Way(
        support: { _ in .full(note: "each body submits what it made ready") }, canHoldPending: { _ in false },
        make: { DispatchRound($0, $1) }
    ).on(.byHand)

    /// A named form, for the shapes that have it.
    private static func form(_ name: String, _ ways: [Shape: Way], only: String) -> BackendFactory {
        BackendFactory(
            id: BackendID(rawValue: name), guarantees: [], ways: ways, otherwise: "a form of \(only) only")
    }
}

import OpBenchBackends
import OpBenchModel

/// How queues of one type execute what shapes need, by what the type conforms to.
struct QueueWays: Sendable {
    private typealias MakeRound = @Sendable (WorkloadPlan, OperationBody, @escaping QueueRound.Make, Bool) -> QueueRound

    private let type: any MeasuredQueue.Type
    private let limits: ClosedRange<Int>?
    private let make: QueueRound.Make
    private let suspends: Bool
    private let hasWait: Bool

    init<Queue: MeasuredQueue>(
        _ type: Queue.Type, limits: ClosedRange<Int>?, make: @escaping @Sendable (QueueSettings) -> Queue
    ) {
        (self.type, self.limits, self.make) = (type, limits, make)
        suspends = type is any SuspendableQueue.Type
        hasWait = type is any WaitingQueue.Type
    }

    // MARK: What it can do

    var table: [Capability: Way] {
        let stream = way(StreamRound.init).on(.byHand)
        var table: [Capability: Way] = [
            .independent: stream, .wakeups: stream, .arrivals: stream,
            .chains: dependencies, .graphs: dependencies,
            .cancellation: cancellation,
            .blocking: way(WaitingRound.init, refusal: blockingRefusal),
            .observers: way(
                ObservedRound.init,
                note: { $0.observers == 0 ? "" : "each closure calls its observers as its last act" }),
            .blockGroups: way(GroupRound.init, note: { _ in "each block is submitted by itself" }),
            .announcedEnds: way(AsynchronousRound.init, counts: true, refusal: announcementRefusal),
        ]
        if suspends {
            table[.suspension] = stream
            table[.holding] = way(LadenRound.init)
        }
        let urgency = way(UrgencyRound.init)
        if type is any PrioritizedQueue.Type { table[.priorities] = urgency }
        if type is any ThreadPriorityQueue.Type { table[.threadPriorities] = urgency }
        if type is any BarrierQueue.Type { table[.barriers] = way(BarrierRound.init) }
        return table
    }

    /// Why it cannot do what is not in `table`.
    var refusals: [Capability: String] {
        [
            .suspension: Self.missing("suspended", SuspendableQueue.self),
            .holding: Self.missing("suspended", SuspendableQueue.self),
            .priorities: Self.missing("given priorities", PrioritizedQueue.self),
            .threadPriorities: Self.missing("given thread priorities", ThreadPriorityQueue.self),
            .barriers: Self.missing("given barriers", BarrierQueue.self),
            .manualStarts: "work of a declared queue cannot be started by hand, without the queue",
        ]
    }

    private static func missing(_ what: String, _ capability: Any.Type) -> String {
        "it cannot be \(what): it does not conform to \(capability)"
    }

    // MARK: Ways

    /// - Parameters:
    ///   - counts: whether ends are counted, whatever wait the queue has: not all that it runs is submitted by the round.
    ///   - note: what differs in meaning.
    ///   - refusal: what asks too much of the queue.
    private func way(
        _ round: @escaping MakeRound, counts: Bool = false, holdsPending: Bool = true,
        note: @escaping @Sendable (WorkloadPlan) -> String = { _ in "" },
        refusal: @escaping @Sendable (WorkloadPlan) -> String? = { _ in nil }
    ) -> Way {
        let (make, suspends) = (make, suspends)
        let hasWait = hasWait && !counts
        return Way(
            support: { plan in
                if let reason = commonRefusal(plan) ?? refusal(plan) { return .unsupported(reason: reason) }
                return .full(note: note(plan))
            },
            canHoldPending: { suspends && holdsPending && !$0.isRefill },
            make: { round($0, $1, make, hasWait) })
    }

    /// What asks too much of the queue whatever the shape is.
    private func commonRefusal(_ plan: WorkloadPlan) -> String? {
        if let limit = plan.limit {
            guard let limits else { return "no limit can be set: its backend declares no limits" }
            if !limits.contains(limit) {
                return limits.count == 1
                    ? "a limit of \(limit) cannot be set, only \(limits.lowerBound)"
                    : "a limit of \(limit) cannot be set, only \(limits.lowerBound) to \(limits.upperBound)"
            }
        }
        return plan.startsSuspended && !suspends ? Self.missing("suspended", SuspendableQueue.self) : nil
    }

    /// By the queue itself, if it can, of what is submitted in an order that it can take; else by the operations.
    private var dependencies: Way {
        let within = way(
            WithinRound.init, counts: true, holdsPending: false,
            note: { _ in "each operation submits what it made ready" }
        ).on(.byHand)
        guard let type = type as? any DependencyQueue.Type else { return within }
        let own = way(Self.dependencyRound(type)).on(.declared)
        let choose: @Sendable (WorkloadPlan) -> Way = {
            !$0.isReversed && $0.chains?.queues ?? 1 == 1 ? own : within
        }
        return Way(
            support: { choose($0).support($0) }, canHoldPending: { choose($0).canHoldPending($0) },
            make: { choose($0).make($0, $1) }
        ).on { choose($0).axis($0) }
    }

    private static func dependencyRound<Queue: DependencyQueue>(_ type: Queue.Type) -> MakeRound {
        DependencyRound<Queue>.init
    }

    /// By the queue itself, if it can, where a call cancels one operation; else by flags.
    private var cancellation: Way {
        let flagged = way(FlaggedRound.init, note: { _ in "a flag per operation, read by its closure" })
        guard let type = type as? any CancellingQueue.Type else { return flagged }
        let own = way(Self.cancellingRound(type))
        let choose: @Sendable (WorkloadPlan) -> Way = { $0.cancellation?.call == .each ? own : flagged }
        return Way(
            support: { choose($0).support($0) }, canHoldPending: { choose($0).canHoldPending($0) },
            make: { choose($0).make($0, $1) })
    }

    private static func cancellingRound<Queue: CancellingQueue>(_ type: Queue.Type) -> MakeRound {
        CancellingRound<Queue>.init
    }

    private func blockingRefusal(_ plan: WorkloadPlan) -> String? {
        guard plan.blocking?.kind == .wait, limits?.upperBound == 1 else { return nil }
        return "an operation that waits for the next would wait forever: it runs one at a time"
    }

    /// A slot of a limit stays taken until the end is announced, of which the queue must know.
    private func announcementRefusal(_ plan: WorkloadPlan) -> String? {
        guard plan.limit != nil, plan.announcedEnd == .thread, !(type is any AsynchronousQueue.Type) else { return nil }
        return "it would run more at once than its limit: it does not conform to AsynchronousQueue"
    }
}

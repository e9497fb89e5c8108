import OpBenchBackends
import OpBenchModel

/// The ways in which queues of one type execute shapes, by the protocols of the type.
struct QueueWays: Sendable {
    private let type: any MeasuredQueue.Type
    private let limits: ClosedRange<Int>?
    private let make: @Sendable (QueueSettings) -> any MeasuredQueue
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

    var table: [Shape: Way] {
        let stream = way().on(.byHand)
        var table: [Shape: Way] = [
            .independent: stream, .wakeup: stream, .openLoop: stream,
            .chain: dependencies, .graph: dependencies, .replay: replay,
            .cancelStorm: cancellation,
            .blocking: way(refusal: blockingRefusal),
            .observers: way(note: { $0.observers == 0 ? "" : "each closure calls its observers as its last act" }),
            .blockGroups: way(note: { _ in "each block is submitted by itself" }),
            .asynchronous: way(refusal: announcementRefusal),
        ]
        if suspends {
            table[.suspendResume] = stream
            table[.memoryFence] = way()
        }
        if type is any PrioritizedQueue.Type { table[.priorityMix] = way() }
        if type is any ThreadPriorityQueue.Type { table[.threadPriority] = way() }
        if type is any BarrierQueue.Type { table[.barriers] = way() }
        return table
    }

    /// Why it cannot do what is not in `table`.
    var refusals: [Shape: String] {
        [
            .suspendResume: Self.missing("suspended", SuspendableQueue.self),
            .memoryFence: Self.missing("suspended", SuspendableQueue.self),
            .priorityMix: Self.missing("given priorities", PrioritizedQueue.self),
            .threadPriority: Self.missing("given thread priorities", ThreadPriorityQueue.self),
            .barriers: Self.missing("given barriers", BarrierQueue.self),
            .manualStart: "work of a declared queue cannot be started by hand, without the queue",
        ]
    }

    private static func missing(_ what: String, _ capability: Any.Type) -> String {
        "it cannot be \(what): it does not conform to \(capability)"
    }

    // MARK: Ways

    /// - Parameters:
    ///   - note: the difference in meaning.
    ///   - refusal: the reason why the queue cannot execute a plan.
    private func way(
        by means: DeclaredRound.Means = .round, holdsPending: Bool = true,
        note: @escaping @Sendable (WorkloadPlan) -> String = { _ in "" },
        refusal: @escaping @Sendable (WorkloadPlan) -> String? = { _ in nil }
    ) -> Way {
        let (make, suspends, hasWait) = (make, suspends, hasWait)
        return Way(
            support: { plan in
                if let reason = commonRefusal(plan) ?? refusal(plan) { return .unsupported(reason: reason) }
                return .full(note: note(plan))
            },
            canHoldPending: { suspends && holdsPending && !$0.isRefill },
            make: { plan, body in
                DeclaredRound(plan, body, by: means) {
                    KitQueue(make(QueueSettings(limit: $0)), hasWait: hasWait)
                }
            })
    }

    /// The reason why the queue cannot execute a plan, whatever its shape.
    private func commonRefusal(_ plan: WorkloadPlan) -> String? {
        for case let limit? in plan.queueLimits {
            guard let limits else { return "no limit can be set: its backend declares no limits" }
            if !limits.contains(limit) {
                return limits.count == 1
                    ? "a limit of \(limit) cannot be set, only \(limits.lowerBound)"
                    : "a limit of \(limit) cannot be set, only \(limits.lowerBound) to \(limits.upperBound)"
            }
        }
        return plan.startsSuspended && !suspends ? Self.missing("suspended", SuspendableQueue.self) : nil
    }

    /// By the queue itself, if it can and the order of submission allows it; else by the operations.
    private var dependencies: Way {
        let within = way(holdsPending: false, note: { _ in "each operation submits what it made ready" }).on(.byHand)
        guard type is any DependencyQueue.Type else { return within }
        return Self.either(way(by: .queue).on(.declared), or: within) {
            !$0.isReversed && $0.chains?.queues ?? 1 == 1
        }
    }

    /// By the queue itself, if it can, where a call cancels one operation; else by flags.
    private var cancellation: Way {
        let flagged = way(note: { _ in "a flag per operation, read by its closure" })
        guard type is any CancellingQueue.Type else { return flagged }
        return Self.either(way(by: .queue), or: flagged) { $0.cancellation?.call == .each }
    }

    /// By closures, whatever protocols the queue conforms to.
    private var replay: Way {
        let suspends = suspends
        let way = way(
            note: { $0.replayNote(following: "each operation submits what it made ready") },
            refusal: {
                $0.classes == nil ? nil : "operations of a replay have no priorities here; \(Replay.withoutPriorities)"
            })
        return Way(
            support: way.support, canHoldPending: { suspends && $0.graph == nil }, make: way.make
        ).on(.byHand)
    }

    private static func either(
        _ first: Way, or second: Way, _ suits: @escaping @Sendable (WorkloadPlan) -> Bool
    ) -> Way {
        let choose: @Sendable (WorkloadPlan) -> Way = { suits($0) ? first : second }
        return Way(
            support: { choose($0).support($0) }, canHoldPending: { choose($0).canHoldPending($0) },
            make: { choose($0).make($0, $1) }
        ).on { choose($0).axis($0) }
    }

    private func blockingRefusal(_ plan: WorkloadPlan) -> String? {
        guard plan.blocking?.kind == .wait, limits?.upperBound == 1 else { return nil }
        return "an operation that waits for the next would wait forever: it runs one at a time"
    }

    /// An operation occupies a slot of a limit until its end is announced, so the queue must be notified.
    private func announcementRefusal(_ plan: WorkloadPlan) -> String? {
        guard plan.limit != nil, plan.announcedEnd == .thread, !(type is any AsynchronousQueue.Type) else { return nil }
        return "it would run more at once than its limit: it does not conform to AsynchronousQueue"
    }
}

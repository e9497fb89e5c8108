import OpBenchModel

/// Swift's own concurrency: a task for each operation, on the global executor, which on Linux is Dispatch's pool.
///
/// | shape | form |
/// |---|---|
/// | independent, wakeup, open_loop | an unstructured task each; a refilled batch is a discarding task group |
/// | chain, graph | each task makes the tasks of the successors that it made ready |
/// | replay | as a graph, whose operations arrive |
/// | priority_mix, thread_priority | task priorities |
/// | suspend_resume, memory_fence | tasks that wait at a gate before the body |
/// | cancel_storm | `Task.cancel()` and `Task.isCancelled`; no call cancels all, unless they are one group |
/// | observers | a task that awaits the operation's, and calls them |
/// | block_groups | a task group each |
/// | asynchronous | tasks that await a continuation |
/// | blocking | nothing: a task must not block its thread |
///
/// At limit 1 the bodies run on an actor, which prefers the higher priority; at limit k they need one of k permits,
/// first come, first served. An unstructured task costs less than a child of a group.
///
/// Beside it, `concurrency:group`: a task group for all, a limit being a window of children. The group's own task submits them.
package enum ConcurrencyBackend {
    package static let factories = [factory, group]

    static let factory = BackendFactory(
        id: .concurrency, guarantees: [], ways: ways,
        refusals: [
            .blocking: "a task must not block its thread, for which the pool has no substitute",
            .barriers: "tasks have no order that a barrier could divide",
            .manualStart: "a task runs on its executor, and no call runs it at once",
        ])

    static let group: BackendFactory = {
        let reason = "a form of independent operations, not refilled, only"
        return BackendFactory(
            id: BackendID(rawValue: "concurrency:group"), guarantees: [],
            ways: [
                .independent: Way(
                    support: {
                        $0.isRefill
                            ? .unsupported(reason: reason) : .full(note: "submitted by the group's own task")
                    }, canHoldPending: { _ in false }, make: { TaskGroupLoop($0, $1) })
            ],
            otherwise: reason)
    }()

    private static let ways: [Shape: Way] = [
        .independent: loop().on(.declared), .wakeup: loop(), .openLoop: loop(), .memoryFence: loop(),
        .chain: dependencies, .graph: dependencies,
        .replay: Way(
            support: { plan in
                if plan.classes != nil, plan.queueLimits.contains(where: { $0 ?? 1 > 1 }) {
                    return .unsupported(
                        reason: "permits are first come, first served, whatever the priority; "
                            + Replay.withoutPriorities)
                }
                return .full(
                    note: plan.replayNote(following: "each task makes the tasks of the successors that it made ready"))
            }, canHoldPending: { _ in false }, make: { TaskGraph($0, $1) }
        ).on(.byHand),
        .suspendResume: Way(note: "tasks wait at a gate before the body") { TaskLoop($0, $1) },
        .priorityMix: Way(
            support: { plan in
                plan.limit ?? 1 > 1
                    ? .unsupported(reason: "permits are first come, first served, whatever the priority")
                    : gated(plan, "five task priorities")
            }, make: { TaskLoop($0, $1) }),
        .threadPriority: Way(
            support: { plan in
                DispatchLevels.qualityOfServiceSetsNice
                    ? gated(plan, "five task priorities")
                    : .unsupported(reason: "a task's priority does not change a thread's nice value on this system")
            }, make: { TaskLoop($0, $1) }),
        .cancelStorm: loop("each task is cancelled, and checks whether it was"),
        .observers: Way(
            support: { plan in
                gated(plan, plan.observers == 0 ? "" : "one more task awaits the operation's and calls the observers")
            }, make: { TaskLoop($0, $1) }),
        .blockGroups: Way(
            support: { gated($0, "a task group per operation, with a child for each block") },
            make: { TaskGroups($0, $1) }),
        .asynchronous: Way(
            support: { gated($0, "a task per operation, which awaits a continuation") },
            make: { TaskAsynchronous($0, $1) }),
    ]

    private static func loop(_ note: String = "") -> Way {
        Way(support: { gated($0, note) }, make: { TaskLoop($0, $1) })
    }

    private static let dependencies = Way(
        support: { TaskGraph.support($0) }, canHoldPending: { _ in false }, make: { TaskGraph($0, $1) }
    ).on(.byHand)

    /// Says also whether tasks wait at a gate.
    private static func gated(_ plan: WorkloadPlan, _ note: String) -> Support {
        .full(
            note: [plan.startsSuspended ? "tasks wait at a gate" : "", note].filter { !$0.isEmpty }.joined(
                separator: "; "))
    }
}

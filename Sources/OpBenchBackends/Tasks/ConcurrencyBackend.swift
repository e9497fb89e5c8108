import OpBenchModel

/// Swift's own concurrency: a task for each operation, on the global executor, which on Linux is Dispatch's pool.
///
/// | shape | what stands for it |
/// |---|---|
/// | independent, wakeup, open_loop | an unstructured task each; a refilled batch is a discarding task group |
/// | chain, graph | each task makes the tasks of the successors that it made ready |
/// | priority_mix, thread_priority | task priorities |
/// | suspend_resume, memory_fence | tasks that wait at a gate before the body |
/// | cancel_storm | `Task.cancel()` and `Task.isCancelled`; no call cancels all that is not one group |
/// | observers | a task that awaits the operation's, and calls them |
/// | block_groups | a task group each |
/// | asynchronous | tasks that await a continuation |
/// | blocking | nothing: a task must not block its thread |
///
/// At limit 1 the bodies run on an actor, which prefers the higher priority; at limit k they need one of k permits, first
/// come, first served. An unstructured task costs less than a child of a group.
///
/// The forms beside it:
/// - `concurrency:await`: each task awaits its predecessors' values. The plain way to write a dependency; in chains it
///   takes several times as long as `concurrency`.
/// - `concurrency:group`: a task group for all, a limit being a window of children. The group's own task submits them.
enum ConcurrencyBackend {
    static let factory = BackendFactory(
        id: .concurrency, guarantees: [], support: support, canHoldPending: canHoldPending, make: make)

    static let await = BackendFactory(
        id: BackendID(rawValue: "concurrency:await"), guarantees: [],
        support: { plan in
            plan.hasDependencies
                ? TaskGraph.support(plan, .await) : .unsupported(reason: "a form of chains and graphs only")
        }, canHoldPending: { _ in true }, make: { TaskGraph($0, $1, .await) })

    static let group = BackendFactory(
        id: BackendID(rawValue: "concurrency:group"), guarantees: [],
        support: { plan in
            plan.shape == .independent && !plan.isRefill
                ? .full(note: "submitted by the group's own task")
                : .unsupported(reason: "a form of independent operations, not refilled, only")
        }, canHoldPending: { _ in false }, make: { TaskGroupLoop($0, $1) })

    private static func support(_ plan: WorkloadPlan) -> Support {
        let gate = plan.startsSuspended ? "tasks wait at a gate; " : ""
        switch plan.shape {
        case .independent, .wakeup, .openLoop: return .full(note: plan.startsSuspended ? "tasks wait at a gate" : "")
        case .chain, .graph: return TaskGraph.support(plan, .within)
        case .suspendResume: return .full(note: "tasks wait at a gate before the body")
        case .priorityMix where plan.limit ?? 1 > 1:
            return .unsupported(reason: "permits are first come, first served, whatever the priority")
        case .priorityMix: return .full(note: gate + "five task priorities")
        case .threadPriority where !DispatchLevels.qualityOfServiceSetsNice:
            return .unsupported(reason: "a task's priority does not change a thread's nice value on this system")
        case .threadPriority: return .full(note: gate + "five task priorities")
        case .memoryFence: return .full(note: "tasks wait at a gate")
        case .cancelStorm:
            return .full(note: gate + "each task is cancelled, and checks whether it was")
        case .blocking:
            return .unsupported(reason: "a task must not block its thread, for which the pool has no substitute")
        case .barriers: return .unsupported(reason: "tasks have no order that a barrier could divide")
        case .manualStart: return .unsupported(reason: "a task runs on its executor, and no call runs it at once")
        case .observers where plan.observers != 0:
            return .full(note: gate + "one more task awaits the operation's and calls the observers")
        case .observers: return .full(note: plan.startsSuspended ? "tasks wait at a gate" : "")
        case .blockGroups: return .full(note: gate + "a task group per operation, with a child for each block")
        case .asynchronous: return .full(note: gate + "a task per operation, which awaits a continuation")
        case .sequence: return .unsupported(reason: "a sequence is its phases")
        }
    }

    private static func canHoldPending(_ plan: WorkloadPlan) -> Bool { !plan.isRefill && !plan.hasDependencies }

    private static func make(_ plan: WorkloadPlan, _ body: OperationBody) -> any Backend {
        switch plan.shape {
        case .chain, .graph: TaskGraph(plan, body, .within)
        case .blockGroups: TaskGroups(plan, body)
        case .asynchronous: TaskAsynchronous(plan, body)
        default: TaskLoop(plan, body)
        }
    }
}

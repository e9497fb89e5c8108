import Dispatch
import OpBenchModel

/// Operations without dependencies as Swift tasks; refilled batches as task groups. Tasks check for cancellation.
final class TaskLoop: RoundBackend, @unchecked Sendable {
    private let plan: WorkloadPlan
    private let body: OperationBody
    private let refill: Refill?
    private let notifications = Notifications()
    /// Entered for each operation until it has ended.
    private let running = DispatchGroup()
    private var lane: TaskLane?
    /// In plans with a cancellation.
    private var tasks: TaskHandles?
    /// By class; empty in shapes without.
    private let priorities: [TaskPriority]
    private let cancellation: Cancellation?
    private let payloadBytes: Int
    private let observers: Int

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
        refill = plan.refillWindow.map { Refill(window: $0, streams: plan.parts.count) }
        priorities = plan.taskPriorities
        cancellation = plan.cancellation
        payloadBytes = plan.ballast?.bytes ?? 0
        observers = plan.observers ?? 0
    }

    func build() {
        let (leaves, canBeCancelled) = (refill == nil, cancellation != nil)
        lane = TaskLane(
            limit: plan.limit, canBeHeld: plan.storm != nil, isHeld: plan.startsSuspended,
            body: { [body] operation in
                if canBeCancelled { body.runUnlessCancelled(operation) } else { body.run(operation) }
            }, after: { [running] _ in if leaves { running.leave() } })
        if canBeCancelled { tasks = TaskHandles(count: plan.operationCount) }
    }

    func submit(_ part: Range<Int>) {
        if let refill {
            Task { [self] in
                await runBatches(of: part, refill.window)
                refill.streamEnded()
            }
        } else if plan.submission == .bulk {
            body.submitTogether(part, in: plan) {
                for operation in part { submit(operation) }
            }
        } else {
            for operation in part {
                body.willSubmit(operation)
                submit(operation)
                body.didSubmit(operation)
            }
        }
    }

    func cancel(_ part: Range<Int>) {
        guard let cancellation, let tasks else { return }
        for operation in part where cancellation.isChosen[operation] { tasks[operation]?.cancel() }
    }

    func release() { lane?.open() }

    func drain() {
        refill?.wait()
        running.wait()
        notifications.wait()
    }

    func teardown() {
        lane = nil
        tasks = nil
    }

    func suspend() { lane?.hold() }

    func resume() { lane?.open() }

    @inline(__always)
    private func submit(_ operation: Int) {
        let priority = priorities.isEmpty ? nil : priorities[Int(plan.classes!.ofOperation[operation])]
        running.enter()
        let payload = payloadBytes > 0 ? Payload.make(bytes: payloadBytes) : nil
        let task = lane!.submit(operation, priority: priority, keeping: payload)
        tasks?[operation] = task
        if observers > 0 { notify(observers, of: operation, after: task) }
        if plan.hasCompletionBlocks, body.wantsNotification(operation) {
            notifications.call(notifications.block(operation, body), after: task, priority: priority)
        }
    }

    /// Only a task can await a task: one does, and calls all observers.
    private func notify(_ count: Int, of operation: Int, after task: Task<Void, Never>) {
        let observers = (0..<count).map { _ in { @Sendable [body] in body.didNotice(operation) } }
        running.enter()
        Task { [running] in
            await task.value
            for observer in observers { observer() }
            running.leave()
        }
    }

    /// Runs batch after batch, each a group whose children must all have ended before the next.
    private func runBatches(of part: Range<Int>, _ window: Int) async {
        let lane = lane!
        for first in stride(from: part.lowerBound, to: part.upperBound, by: window) {
            let batch = first..<min(first + window, part.upperBound)
            await withDiscardingTaskGroup { [body] group in
                for operation in batch {
                    body.willSubmit(operation)
                    group.addTask { await lane.run(operation) }
                    body.didSubmit(operation)
                }
            }
            for operation in batch { body.didNotify(operation) }
        }
    }
}

extension OperationBody {
    /// For an operation's task, which alone knows whether it was cancelled.
    fileprivate func runUnlessCancelled(_ operation: Int) {
        if Task.isCancelled { didEndCancelled(operation) } else { run(operation) }
    }
}

extension WorkloadPlan {
    /// The task priority of each class; empty in shapes without.
    var taskPriorities: [TaskPriority] {
        // The last has a value and a meaning, but no name in Swift's library.
        let priorities: [TaskPriority] = [.background, .utility, .medium, .userInitiated, TaskPriority(rawValue: 33)]
        return classLevels.map { priorities[$0] }
    }
}

/// The task of each operation, to wait for it or cancel it.
///
/// Not locked: a thread that reads a handle must synchronize with the thread that wrote it, as a new task does.
final class TaskHandles: @unchecked Sendable {
    private let handles: UnsafeMutablePointer<Task<Void, Never>?>
    private let count: Int

    init(count: Int) {
        self.count = count
        handles = .allocate(capacity: count)
        handles.initialize(repeating: nil, count: count)
    }

    deinit {
        handles.deinitialize(count: count)
        handles.deallocate()
    }

    subscript(operation: Int) -> Task<Void, Never>? {
        get { handles[operation] }
        set { handles[operation] = newValue }
    }
}

import Dispatch

/// The completion blocks that a stamped sample times. A queue's own wait may return before they have run.
package struct Notifications: Sendable {
    private let pending = DispatchGroup()

    package init() {}

    /// A block that stamps `notified`; to be called once.
    package func block(_ operation: Int, _ body: OperationBody) -> @Sendable () -> Void {
        pending.enter()
        return { [pending] in
            body.didNotify(operation)
            pending.leave()
        }
    }

    /// One block for all operations of a group.
    package func block(_ group: Range<Int>, _ body: OperationBody) -> @Sendable () -> Void {
        pending.enter()
        return { [pending] in
            for operation in group { body.didNotify(operation) }
            pending.leave()
        }
    }

    /// Calls a block after a task, in a task of its own: only a task can await another.
    func call(_ block: @escaping @Sendable () -> Void, after task: Task<Void, Never>, priority: TaskPriority? = nil) {
        Task(priority: priority) {
            await task.value
            block()
        }
    }

    package func wait() { pending.wait() }
}

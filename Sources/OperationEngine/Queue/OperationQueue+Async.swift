extension OperationQueue {
    /// Adds async work, as an operation of its own. The operation holds its slot until the work has ended, and blocks
    /// no thread meanwhile (contract X1).
    ///
    /// For a closure that neither awaits, throws nor returns a value, use the synchronous `addOperation(_:)`.
    ///
    /// - Parameters:
    ///   - taskPriority: the priority of the task that runs the body. `queuePriority` decides when the operation
    ///     starts.
    ///   - body: what the task runs, detached from the task that adds it.
    /// - Returns: the operation, for its value, to cancel it, or to depend on it.
    @discardableResult
    public final func addOperation<Value: Sendable>(
        taskPriority: TaskPriority? = nil, _ body: @escaping @Sendable () async throws -> Value
    ) -> AsyncOperation<Value> {
        let operation = AsyncOperation(taskPriority: taskPriority, body)
        addOperation(operation)
        return operation
    }

    /// Suspends the calling task until the queue is empty for an instant. It waits for what is added meanwhile, too. No
    /// thread blocks (contract O8).
    ///
    /// An operation of the same queue must not await it, because it would wait for its own end.
    ///
    /// - Returns: true if the queue was empty, false if the awaiting task was cancelled before.
    @discardableResult
    public nonisolated(nonsending) final func drained() async -> Bool { await core.drained() }
}

extension OperationQueue {
    /// Adds async work, as an operation of its own, which holds its slot until the work has ended and blocks no thread
    /// meanwhile (contract X1).
    ///
    /// A closure that neither awaits, throws nor returns a value is not for this form, but for the synchronous
    /// `addOperation(_:)`.
    ///
    /// - Parameters:
    ///   - taskPriority: of the task that runs the body. When the operation is started is up to `queuePriority`.
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

    /// Suspends the calling task until the queue is empty for an instant, including what is added meanwhile; no thread
    /// blocks (contract O8).
    ///
    /// Not to be awaited by an operation of the same queue, which would wait for its own end.
    ///
    /// - Returns: true if the queue was empty; false if the awaiting task was cancelled before.
    @discardableResult
    public nonisolated(nonsending) final func drained() async -> Bool { await core.drained() }
}

/// An operation whose work is `async`. It executes and holds its slot until its task has ended, and blocks no thread
/// meanwhile (contract X1).
///
/// Make it with `OperationQueue.addOperation(taskPriority:_:)`, from a body, or subclass it and override `run`.
/// Otherwise it is an operation like any other, except that `threadPriority` has no effect. Every member may be used
/// from any thread.
open class AsyncOperation<Value: Sendable>: Operation, @unchecked Sendable {
    private let taskPriority: TaskPriority?
    /// Kept until the operation is finished. Guarded by `lock`.
    private var body: (@Sendable () async throws -> Value)?
    /// Kept while the body runs. Guarded by `lock`.
    private var task: Task<Void, Never>?
    /// Written by the task before the finish, which publishes it. Other threads read it only after the finish.
    private nonisolated(unsafe) var outcomeOfBody: Result<Value, any Error>?

    /// An operation that runs `body` in a detached task of the given priority.
    public init(taskPriority: TaskPriority? = nil, _ body: @escaping @Sendable () async throws -> Value) {
        self.taskPriority = taskPriority
        self.body = body
        super.init()
        state.setRunsAsTask()
    }

    /// For subclasses that override `run`.
    public init(taskPriority: TaskPriority?) {
        self.taskPriority = taskPriority
        super.init()
        state.setRunsAsTask()
    }

    /// True: the work continues after `start` has returned.
    open override var isAsynchronous: Bool { true }

    /// The work. Unless overridden, it calls the body. An override need not call `super`. The operation's task calls
    /// it. Do not call it by hand. An error that it throws is the operation's failure.
    open func run() async throws -> Value {
        guard let body = lock.withLock({ body }) else { throw NoBody() }
        return try await body()
    }

    /// Thrown if there is neither a body nor an overridden `run`.
    private struct NoBody: Error, CustomStringConvertible {
        var description: String { "an AsyncOperation without a body has to override run()" }
    }

    /// The value or error of the body; nil before the operation is finished.
    ///
    /// A failure recorded by `fail(with:)` takes precedence over a value that the body returned. If the operation
    /// finished without its body, this is a `DependencyFailure` or a `CancellationError`.
    public final var result: Result<Value, any Error>? {
        guard state.load().isFinished else { return nil }
        if let error = failure ?? skipReason { return .failure(error) }
        return outcomeOfBody ?? .failure(CancellationError())
    }

    /// Suspends the calling task until the operation is finished. Then it returns the value or throws the error of
    /// `result`. It throws a `CancellationError` if the calling task is cancelled first. The operation then goes on.
    public final var value: Value {
        get async throws {
            guard await finished(), let result else { throw CancellationError() }
            return try result.get()
        }
    }

    /// Cancels the operation, as `Operation.cancel` does, and its task.
    open override func cancel() {
        super.cancel()
        // The flag is set first and the task is read second. `launch` stores the task first and reads the flag second.
        // So one of the two sees the other.
        lock.withLock { task }?.cancel()
    }

    // MARK: The task

    override final func launch() {
        // `run` may announce an end of its own.
        let queue = keptQueue()
        let new = Task.detached(priority: taskPriority) { await self.runAndFinish(for: queue) }
        lock.withLock {
            // In a finished operation, nothing would release it again.
            if !state.load().isFinished { task = new }
        }
        if state.load().isCancelled { new.cancel() }
    }

    private func runAndFinish(for queue: OperationQueue?) async {
        do {
            outcomeOfBody = .success(
                try await withTaskCancellationHandler {
                    try await run()
                } onCancel: {
                    cancel()
                })
        } catch {
            outcomeOfBody = .failure(error)
            if !(error is CancellationError && state.load().isCancelled) { fail(with: error) }
        }
        queue?.tellEndOfMain()
        finish(from: .executing, on: nil)
    }

    override final func executionEnded(_ last: OperationState.Word) {
        lock.lock()
        let (body, task) = (body.take(), task.take())
        lock.unlock()
        withExtendedLifetime((body, task)) {}
    }
}

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
}

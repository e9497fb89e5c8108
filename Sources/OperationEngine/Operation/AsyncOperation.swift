/// An operation whose work is `async`: it executes, and holds its slot, until the task that it makes has ended, and
/// blocks no thread meanwhile (contract X1).
///
/// Made by `OperationQueue.addOperation(taskPriority:_:)`, from a body, or by subclassing and overriding `run`. In all
/// else it is an operation like any other; `threadPriority` has no effect. Every member may be used from any thread.
open class AsyncOperation<Value: Sendable>: Operation, @unchecked Sendable {
    private let taskPriority: TaskPriority?
    /// Until the operation is finished. Guarded by `lock`.
    private var body: (@Sendable () async throws -> Value)?
    /// While the body runs. Guarded by `lock`.
    private var task: Task<Void, Never>?
    /// Written by the task before the finish, which publishes it; read by others only after the finish.
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

    /// True: the work goes on when `start` has returned.
    open override var isAsynchronous: Bool { true }

    /// The work. Calls the body, unless overridden; then there is no need to call `super`. Called by the operation's
    /// task, never to be called by hand. What it throws is the operation's failure.
    open func run() async throws -> Value {
        guard let body = lock.withLock({ body }) else { throw NoBody() }
        return try await body()
    }

    /// Thrown where there is neither a body nor an overridden `run`.
    private struct NoBody: Error, CustomStringConvertible {
        var description: String { "an AsyncOperation without a body has to override run()" }
    }

    /// What the body returned or threw; nil before the operation is finished.
    ///
    /// A failure that `fail(with:)` recorded counts more than a value that the body returned. Of an operation that
    /// finished without its body, a `DependencyFailure` or a `CancellationError`.
    public final var result: Result<Value, any Error>? {
        guard state.load().isFinished else { return nil }
        if let error = failure ?? skipReason { return .failure(error) }
        return outcomeOfBody ?? .failure(CancellationError())
    }

    /// Suspends the calling task until the operation is finished, and gives the value or throws the error of its
    /// `result`. Throws a `CancellationError` if the calling task is cancelled first; the operation goes on then.
    public final var value: Value {
        get async throws {
            guard await finished(), let result else { throw CancellationError() }
            return try result.get()
        }
    }

    /// Cancels the operation, as `Operation.cancel`, and its task.
    open override func cancel() {
        super.cancel()
        // The flag first and the task second; `launch` has it the other way round: one of the two finds the other.
        lock.withLock { task }?.cancel()
    }

    // MARK: The task

    override final func launch() {
        // `run` may announce an end of its own.
        let queue = keptQueue()
        let new = Task.detached(priority: taskPriority) { await self.runAndFinish(for: queue) }
        lock.withLock {
            // Once finished, nobody would let go of it again.
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

/// An operation that calls a method of an object, chosen by reference or by name (contract L).
///
/// ```swift
/// InvocationOperation(target: self, method: Downloader.refresh)
/// InvocationOperation(target: self, method: Downloader.downloadImage, object: url)
/// InvocationOperation(target: self, selector: "downloadImage:", object: url)
/// ```
///
/// The method takes no argument or one, may throw, and may return anything. `result` holds the outcome. The method runs
/// on the thread that runs the operation. The target and the argument need not be `Sendable`: see ``Invocation``. Do
/// not pass a method of a global actor, for example of a `@MainActor` class. The compiler accepts such a reference, but
/// the method would run outside its actor.
///
/// If the compiler should know the type of the result, use ``TypedInvocationOperation``.
open class InvocationOperation: Operation, @unchecked Sendable {
    /// Why there is no result.
    public enum ResultError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The operation was cancelled (L7).
        case cancelled
        /// The method returns nothing (L8).
        case void

        /// The error in a sentence.
        public var description: String {
            switch self {
            case .cancelled: "result: the invocation operation was cancelled"
            case .void: "result: the method of the invocation operation returns nothing"
            }
        }
    }

    /// Both guarded by `lock`. The invocation is released when the operation is finished (L11).
    private final var storedInvocation: Invocation?
    private final var ended: Result<Any, any Error>?

    /// Makes the call when it runs. The invocation retains its target and its argument (L10).
    public init(invocation: Invocation) {
        storedInvocation = invocation
        super.init()
    }

    /// Calls `target.method()` when it runs.
    ///
    /// - Parameters:
    ///   - target: whose method is called.
    ///   - method: an unapplied reference such as `Downloader.refresh`.
    @preconcurrency
    public convenience init<Target, Output>(
        target: Target, method: @escaping @Sendable (Target) -> () throws -> Output
    ) {
        self.init(invocation: Invocation(target: target, method: method))
    }

    /// Calls `target.method(object)` when it runs.
    ///
    /// - Parameters:
    ///   - target: whose method is called.
    ///   - method: an unapplied reference such as `Downloader.downloadImage`.
    ///   - object: the argument.
    @preconcurrency
    public convenience init<Target, Argument, Output>(
        target: Target, method: @escaping @Sendable (Target) -> (Argument) throws -> Output, object: Argument
    ) {
        self.init(invocation: Invocation(target: target, method: method, object: object))
    }

    /// Calls the method that the target's type has registered under a name (L1, L3).
    ///
    /// - Parameters:
    ///   - target: the target, whose type has registered the method.
    ///   - selector: `name` for a method without arguments, `name:` for one with an argument.
    ///   - object: the argument. Nil also if the method takes none.
    /// - Returns: nil if there is no such method, or if it does not take such an object (L4).
    public convenience init?(target: any InvocationTarget, selector: String, object: Any?) {
        guard let invocation = Invocation(target: target, selector: selector, object: object) else { return nil }
        self.init(invocation: invocation)
    }

    /// The call; nil once the operation is finished, which releases the target and the argument (L11).
    open var invocation: Invocation? { lock.withLock { storedInvocation } }

    /// Makes the call.
    open override func main() {
        guard let invocation else { return }
        let result = Result { try invocation.invoke() }
        lock.lock()
        let replaced = ended
        ended = result
        lock.unlock()
        // Released outside the lock: its deinit may run code of its own.
        withExtendedLifetime(replaced) {}
        if case .failure(let error) = result { fail(with: error) }
    }

    /// The result of the method. Nil until the operation is finished (L5), and if the method returned nil. A number or
    /// a Boolean is itself, in an `Any` (L6).
    ///
    /// - Throws: the method's own error (L9); `ResultError.cancelled` if the operation is cancelled, even before it is
    ///   finished (L7); `ResultError.void` if the method returns nothing (L8).
    open var result: Any? {
        get throws {
            guard let value = try outcomeOfCall?.get() else { return nil }
            if value is Void { throw ResultError.void }
            return if let optional = value as? any OptionalValue { optional.wrapped } else { value }
        }
    }

    /// The outcome of the call: its value, the method's own error, or `cancelled`. Nil until the operation is finished,
    /// unless it is cancelled.
    final var outcomeOfCall: Result<Any, any Error>? {
        // Acquires from the finishing transition, which comes after `main`.
        let word = state.load()
        // Its own error, or the failure of a dependency because of which the call was not made (contract X2).
        if word.isFinished, let error = failure ?? skipReason { return .failure(error) }
        let ended = word.isFinished ? lock.withLock { self.ended } : nil
        return word.isCancelled ? .failure(ResultError.cancelled) : ended
    }

    override final func executionEnded(_ last: OperationState.Word) {
        lock.lock()
        let invocation = storedInvocation.take()
        lock.unlock()
        // Released outside the lock: the deinit of the target may run code of its own.
        withExtendedLifetime(invocation) {}
    }
}

/// An invocation operation whose result has a type (contract L13).
///
/// ```swift
/// let operation = TypedInvocationOperation(target: downloader, method: Downloader.size, object: url)
/// queue.addOperations([operation], waitUntilFinished: true)
/// let size = try operation.outcome!.get()
/// ```
open class TypedInvocationOperation<Output: Sendable>: InvocationOperation, @unchecked Sendable {
    /// Calls `target.method()` when it runs.
    @preconcurrency
    public init<Target>(target: Target, method: @escaping @Sendable (Target) -> () throws -> Output) {
        super.init(invocation: Invocation(target: target, method: method))
    }

    /// Calls `target.method(object)` when it runs.
    @preconcurrency
    public init<Target, Argument>(
        target: Target, method: @escaping @Sendable (Target) -> (Argument) throws -> Output, object: Argument
    ) {
        super.init(invocation: Invocation(target: target, method: method, object: object))
    }

    /// The result or error of the method, or `ResultError.cancelled` if the operation is cancelled; nil until it is
    /// finished or cancelled.
    public final var outcome: Result<Output, any Error>? {
        // Only calls of the methods given above end here, and those return an Output.
        outcomeOfCall?.map { $0 as! Output }
    }
}

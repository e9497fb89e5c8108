/// Settings that most operations never use. Stored apart, so those operations pay for one empty pointer only. Guarded
/// by the operation's `lock`.
final class OperationDetails {
    private let liveMark = LiveMark(.operationDetails)
    var name: String?
    @exclusivity(unchecked) var completionBlock = BlockPlace()
    var threadPriority: Double?
    var qualityOfService: QualityOfService?
    /// The error with which the operation failed, or why it was skipped. `hasFailed` and `isSkipped` in the state word
    /// say which.
    var failure: (any Error)?
    /// The tasks that await the end.
    var awaiters = AwaiterList()
    /// The operation's identity for the trace; nil until its first event.
    var traceID: OperationTrace.OperationID?
    /// The blocks of a `BlockOperation` except the first.
    var furtherBlocks: [BlockOperation.Block] = []

    deinit { _ = completionBlock.take() }

    func takeFurtherBlocks() -> [BlockOperation.Block] {
        defer { furtherBlocks = [] }
        return furtherBlocks
    }
}

extension Operation {
    func withDetails<Value>(_ read: (OperationDetails?) -> Value) -> Value {
        lock.withLock { read(details) }
    }

    /// Makes the details if there are none.
    func withNewDetails<Value>(_ change: (OperationDetails) -> Value) -> Value {
        lock.withLock { change(ownDetails()) }
    }

    /// The details. Made if there are none. Under the lock.
    func ownDetails() -> OperationDetails {
        let own = details ?? OperationDetails()
        details = own
        return own
    }

    func setCompletionBlock(_ block: (@Sendable () -> Void)?) {
        if Misuse.isStrict, state.load().phase.rawValue >= OperationState.Phase.executing.rawValue {
            return Misuse.completionBlockLate.report()
        }
        observers?.willChange(.completionBlock)
        defer { observers?.didChange(.completionBlock) }
        var dropped = BlockPlace()
        if let block { dropped.put(BlockOperation.Block(run: block)) }
        lock.lock()
        // The block is stored before the flag: a finishing thread that sees the flag takes `lock` and finds the block.
        // If the block came too late, the previous one stays, because the finishing thread may not have taken it yet.
        let own = ownDetails()
        swap(&own.completionBlock, &dropped)
        if state.setHasCompletion(block != nil) == .finished { swap(&own.completionBlock, &dropped) }
        lock.unlock()
        // Released outside the lock: deinits of captured objects may run user code.
        _ = dropped.take()
    }

    /// Takes the completion block, on the finishing thread. The property is nil from here on (contract I6).
    func takeCompletionBlock() -> BlockOperation.Block? {
        observers?.willChange(.completionBlock)
        lock.lock()
        let block = details?.completionBlock.take()
        lock.unlock()
        observers?.didChange(.completionBlock)
        return block
    }
}

/// The settings that most operations never touch, kept apart so that those cost one empty pointer.
///
/// Guarded by its operation's `lock`.
final class OperationDetails {
    private let liveMark = LiveMark(.operationDetails)
    var name: String?
    var completionBlock: (@Sendable () -> Void)?
    var threadPriority: Double?
    var qualityOfService: QualityOfService?
    /// What the operation failed with, or why it was skipped: as `hasFailed` and `isSkipped` in the state word say.
    var failure: (any Error)?
    /// The tasks that await the end.
    var awaiters = AwaiterList()
    /// The blocks of a `BlockOperation` but the first.
    var furtherBlocks: [BlockOperation.Block] = []

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

    /// The details, which are made if there are none. Under the lock.
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
        // The block is in place before the flag: the finishing thread that sees the flag takes `lock` and finds it. If
        // it came too late, the one before it stays, which the finishing thread may not have taken yet.
        let (replaced, phase) = withNewDetails { own in
            let replaced = own.completionBlock
            own.completionBlock = block
            let phase = state.setHasCompletion(block != nil)
            if phase == .finished { own.completionBlock = replaced }
            return (replaced, phase)
        }
        // Released outside the lock: captures may run code of their own.
        withExtendedLifetime((replaced, phase)) {}
    }

    /// The completion block, for the finishing thread alone; the property is nil from here on (contract I6).
    func takeCompletionBlock() -> (@Sendable () -> Void)? {
        observers?.willChange(.completionBlock)
        lock.lock()
        let block = details?.completionBlock.take()
        lock.unlock()
        observers?.didChange(.completionBlock)
        return block
    }
}

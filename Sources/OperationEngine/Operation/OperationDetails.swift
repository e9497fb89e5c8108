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
    var awaiters = LinkedList<Awaiter>()
    /// The operation's identity for the trace; nil until its first event.
    var traceID: OperationTrace.OperationID?
    /// The blocks of a `BlockOperation` except the first.
    var furtherBlocks: [Block] = []

    deinit { _ = completionBlock.take() }

    func takeFurtherBlocks() -> [Block] {
        defer { furtherBlocks = [] }
        return furtherBlocks
    }
}

/// An operation's word for its details: nothing, a completion block in a place for closures, or all details. Guarded by
/// the operation's `lock`.
struct DetailsWord {
    /// 0, the address of a closure plus 1, or that of an owned object.
    private var bits: UInt = 0

    private var closure: WaitingClosure.Pointer? {
        bits & 1 == 0 ? nil : WaitingClosure.Pointer(bitPattern: bits & ~1)
    }

    private var object: Unmanaged<OperationDetails>? {
        bits & 1 != 0 ? nil : UnsafeRawPointer(bitPattern: bits).map { .fromOpaque($0) }
    }

    var details: OperationDetails? { object?.takeUnretainedValue() }

    /// The details. Made if there are none.
    mutating func ownDetails() -> OperationDetails {
        if let details { return details }
        let made = OperationDetails()
        swap(&made.completionBlock, &completionBlock)
        release()
        bits = UInt(bitPattern: Unmanaged.passRetained(made).toOpaque())
        return made
    }

    var completionBlock: BlockPlace {
        get { closure?.pointee.block ?? details?.completionBlock ?? BlockPlace() }
        set {
            if let closure {
                closure.pointee.block = newValue
            } else if let details {
                details.completionBlock = newValue
            } else if !newValue.isEmpty {
                bits = UInt(bitPattern: WaitingClosure.make(newValue)) | 1
            }
        }
    }

    /// Takes the completion block out.
    @inline(__always)
    mutating func takeCompletionBlock(_ free: (WaitingClosure.Pointer) -> Void) -> Block? {
        guard let closure else { return details?.completionBlock.take() }
        bits = 0
        defer { free(closure) }
        return closure.pointee.block.take()
    }

    /// Frees what it refers to.
    @inline(__always)
    mutating func release() { if bits != 0 { releaseContent() } }

    @inline(never)
    private mutating func releaseContent() {
        object?.release()
        if closure != nil { _ = takeCompletionBlock { $0.free() } }
        bits = 0
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
    func ownDetails() -> OperationDetails { detailsWord.ownDetails() }

    /// The details, if there are any. Under the lock.
    var details: OperationDetails? { detailsWord.details }

    func setCompletionBlock(_ block: (@Sendable () -> Void)?) {
        if Misuse.isStrict, state.load().phase.rawValue >= OperationState.Phase.executing.rawValue {
            return Misuse.completionBlockLate.report()
        }
        observers?.willChange(.completionBlock)
        defer { observers?.didChange(.completionBlock) }
        var dropped = BlockPlace()
        if let block { dropped.put(Block(run: block)) }
        lock.lock()
        // The block is stored before the flag: a finishing thread that sees the flag takes `lock` and finds the block.
        // If the block came too late, the previous one stays, because the finishing thread may not have taken it yet.
        swap(&detailsWord.completionBlock, &dropped)
        if state.setHasCompletion(block != nil) == .finished { swap(&detailsWord.completionBlock, &dropped) }
        lock.unlock()
        // Released outside the lock: deinits of captured objects may run user code.
        _ = dropped.take()
    }

    /// Takes the completion block, on the finishing thread, and hands its place to `free`. The property is nil from here
    /// on (contract I6).
    func takeCompletionBlock(
        _ free: (WaitingClosure.Pointer) -> Void = { $0.free() }
    ) -> Block? {
        observers?.willChange(.completionBlock)
        let block = lock.withLock { detailsWord.takeCompletionBlock(free) }
        observers?.didChange(.completionBlock)
        return block
    }
}

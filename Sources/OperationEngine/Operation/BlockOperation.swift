/// An operation that runs one or more blocks concurrently. It is finished when all have returned (contract K).
open class BlockOperation: Operation, @unchecked Sendable {
    // The first block. Further blocks, which most operations do not have, are in the details. Released when the
    // operation is finished.
    //
    // While the state word lacks the flag `sharesBlocks`, the block belongs to the thread that made the operation, and
    // then to the thread that runs it. There are no further blocks then. A thread that reads the blocks or adds one
    // first sets the flag, by a transition that fails once the operation is finished, and then takes `lock`. So the
    // running thread needs the lock only if it finds the flag. If the flag is set after the operation has begun, an
    // adding thread is too late, and a reading thread, as one that calls `main`, only reads. The finishing thread sees
    // the flag, which is not set any more after that.
    @exclusivity(unchecked) private final var firstBlock = BlockPlace()

    /// An operation without blocks finishes at once when it is started.
    public override init() {
        super.init()
        if type(of: self) == BlockOperation.self { state.setIsPlainBlock() }
    }

    /// An operation with one block.
    public convenience init(block: @escaping @Sendable () -> Void) {
        self.init()
        firstBlock.put(Block(run: block))
    }

    /// The object of a closure that was added without one. Made under the queue's lock, and known to no other thread
    /// yet. A convenience initializer: subclasses in other modules inherit `init(block:)` only if they see all
    /// designated initializers.
    convenience init(_ block: Block, in queue: QueueCore, for closure: WaitingClosure.Pointer) {
        self.init()
        firstBlock.put(block)
        self.queue = .passUnretained(queue)
        asItem.pointee.sequence = closure.pointee.item.sequence
        if TraceMarks.operations { ownDetails().traceID = closure.traceID }
    }

    deinit { if !firstBlock.isEmpty { _ = firstBlock.take() } }

    /// Adds a block. It is a `Misuse` once the operation executes or is finished (contract K7).
    open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
        let isTooLate = !state.shareBlocks() || lock.withLock { !append(Block(run: block)) }
        if isTooLate { Misuse.executionBlockLate.report() }
    }

    /// Returns false if the operation has begun. Under the lock.
    private func append(_ block: Block) -> Bool {
        if state.load().phase.rawValue >= OperationState.Phase.executing.rawValue { return false }
        if firstBlock.isEmpty {
            firstBlock.put(block)
        } else {
            ownDetails().furtherBlocks.append(block)
        }
        return true
    }

    /// The blocks in the order of adding. Empty once the operation is finished.
    open var executionBlocks: [@Sendable () -> Void] {
        guard state.shareBlocks() else { return [] }
        return lock.withLock { ((firstBlock.copy.map { [$0] } ?? []) + (details?.furtherBlocks ?? [])).map(\.run) }
    }

    /// Runs the first block on the calling thread and the others on threads of the pool. Returns when all have
    /// returned. The calling thread also runs blocks that no other thread has begun, unless it has a thread priority of
    /// its own. That priority is for the first block alone (contract K9).
    ///
    /// When the operation is finished, its blocks and what they have captured are released. If it is called by hand
    /// after that, it runs nothing (contract B11, K13).
    open override func main() {
        // A subclass may announce its end before its blocks have returned, from any thread. And a call by hand may come
        // on any thread.
        if state.shareBlocks() { runAll() }
    }

    /// Does the work of an instance of this class itself, on the thread that began it and will finish it.
    @inline(__always)
    final func runBlocks(_ word: OperationState.Word) {
        if word.has(OperationState.Word.sharesBlocks) { return runAll() }
        if firstBlock.isEmpty { return }
        // No other thread ends the operation, so the block stays where it is until it has returned.
        let block = firstBlock.borrow()
        block.run()
        block.forget()
    }

    private func runAll() {
        lock.lock()
        let first = firstBlock.copy
        let further = details?.furtherBlocks ?? []
        lock.unlock()
        if further.isEmpty { first?.run() } else { runTogether(first, further) }
    }

    @inline(__always)
    override final func executionEnded(_ last: OperationState.Word) {
        guard last.has(OperationState.Word.sharesBlocks) else {
            _ = firstBlock.take()
            return
        }
        // Released outside the lock: deinits of what a block holds may run user code.
        lock.lock()
        let first = firstBlock.take()
        let further = details?.takeFurtherBlocks()
        lock.unlock()
        withExtendedLifetime((first, further)) {}
    }
}

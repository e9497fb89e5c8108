/// An operation that runs one or more blocks, concurrently, and is finished when all have returned (contract K).
open class BlockOperation: Operation, @unchecked Sendable {
    /// A struct around the closure: one by itself costs an allocation whenever a generic function has to do with it.
    struct Block {
        let run: @Sendable () -> Void
    }

    // The first block; the others, of which most have none, are among the details. Released when the operation is finished.
    //
    // As long as the flag `sharesBlocks` is missing in the state word, they belong to who has made the operation, and then
    // to the thread that runs it: there are no others than the first. Whoever else looks at them, or adds one, sets the
    // flag first, by a transition that fails once the operation is finished, and takes `lock`. So the running thread
    // needs the lock only where it finds the flag: one that adds comes too late if the flag comes after the begin, and
    // one that looks shares with `main`, which looks too; the end sees the flag, which nobody sets any more.
    // A subclass may end by its own account while a block runs: its `main` sets the flag as well.
    @exclusivity(unchecked) private final var firstBlock = BlockPlace()

    /// An operation without blocks finishes at once when it is started.
    public override init() { super.init() }

    /// An operation with one block.
    public convenience init(block: @escaping @Sendable () -> Void) {
        self.init()
        firstBlock.put(Block(run: block))
    }

    /// What stands for a closure that was added without an object. Known to nobody; under the queue's lock. A convenience:
    /// subclasses elsewhere inherit `init(block:)` only if they see all initializers that are none.
    convenience init(_ block: Block, in queue: OperationHost, sequence: UInt64) {
        self.init()
        firstBlock.put(block)
        self.queue = .passUnretained(queue)
        self.sequence = sequence
    }

    deinit { _ = firstBlock.take() }

    /// Adds a block, at any time before the operation executes; later it is a `Misuse` (contract K7).
    open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
        let isTooLate = !state.shareBlocks() || lock.withLock { !append(Block(run: block)) }
        if isTooLate { Misuse.executionBlockLate.report() }
    }

    /// Under the lock. False if the operation has begun.
    private func append(_ block: Block) -> Bool {
        if state.load().phase.rawValue >= OperationState.Phase.executing.rawValue { return false }
        if firstBlock.isEmpty {
            firstBlock.put(block)
        } else {
            ownDetails().furtherBlocks.append(block)
        }
        return true
    }

    /// The blocks in the order added; empty once the operation is finished.
    open var executionBlocks: [@Sendable () -> Void] {
        guard state.shareBlocks() else { return [] }
        return lock.withLock { ((firstBlock.copy.map { [$0] } ?? []) + (details?.furtherBlocks ?? [])).map(\.run) }
    }

    /// Runs the first block on the calling thread and the others on threads of the pool, and returns when all have
    /// returned. The calling thread runs those that no other has begun, unless it has a thread priority of its own,
    /// which is for the first block alone (contract K9).
    ///
    /// Once the operation is finished its blocks are released, with what they have captured: called again by hand, this
    /// runs nothing (contract B11, K13).
    open override func main() {
        let word = state.load()
        if word.phase != .executing || word.has(OperationState.Word.sharesBlocks) {
            // The operation is finished before its blocks are gone.
            if !word.isFinished { runAll() }
        } else if type(of: self) != BlockOperation.self {
            // A subclass may announce its end before its blocks have returned, from any thread.
            if state.shareBlocks() { runAll() }
        } else if OperationThread.about(toStart: self) == nil {
            firstBlock.copy?.run()
        } else if !firstBlock.isEmpty {
            // Nobody else ends it: the block stays where it is until it has returned.
            let block = firstBlock.borrow()
            block.run()
            block.forget()
        }
    }

    private func runAll() {
        lock.lock()
        let first = firstBlock.copy
        let further = details?.furtherBlocks ?? []
        lock.unlock()
        if further.isEmpty { first?.run() } else { runTogether(first, further) }
    }

    override final func executionEnded(_ last: OperationState.Word) {
        guard last.has(OperationState.Word.sharesBlocks) else {
            _ = firstBlock.take()
            return
        }
        // Released outside of the lock: what a block holds may run code of its own.
        lock.lock()
        let first = firstBlock.take()
        let further = details?.takeFurtherBlocks()
        lock.unlock()
        withExtendedLifetime((first, further)) {}
    }
}

/// Memory for one block. A property of the block's own type would be retained for each call, and the object around it for
/// its deinit: four atomics an operation.
private struct BlockPlace {
    /// A closure's two words. No tuple, whose type the runtime may look up under a lock: a forked child might find it
    /// taken for good.
    private struct Words {
        /// Never 0 where there is a closure.
        var function: UInt = 0
        var context: UInt = 0
    }

    private var words = Words()

    var isEmpty: Bool { words.function == 0 }

    mutating func put(_ block: BlockOperation.Block) {
        withMemory(as: BlockOperation.Block.self) { $0.initialize(to: block) }
    }

    mutating func take() -> BlockOperation.Block? {
        if isEmpty { return nil }
        defer { words.function = 0 }
        return withMemory(as: BlockOperation.Block.self) { $0.move() }
    }

    var copy: BlockOperation.Block? {
        var words = self
        return isEmpty ? nil : words.withMemory(as: BlockOperation.Block.self) { $0.pointee }
    }

    /// What `borrow` gives: not copyable, and so not retained.
    struct Borrowed: ~Copyable {
        let run: @Sendable () -> Void

        /// Ends the loan without releasing anything: the block is where it was.
        consuming func forget() {
            // A closure cannot consume what is around it, but an optional's content.
            var content = Optional(self)
            withUnsafeTemporaryAllocation(of: Borrowed.self, capacity: 1) {
                $0.initializeElement(at: 0, to: content.take()!)
            }
        }
    }

    /// The block, for who calls it where it is. Its memory stays as it is, and may be copied from by others.
    mutating func borrow() -> Borrowed { withMemory(as: Borrowed.self) { $0.move() } }

    private mutating func withMemory<Content: ~Copyable, Result: ~Copyable>(
        as type: Content.Type, _ body: (UnsafeMutablePointer<Content>) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &words) { $0.withMemoryRebound(to: type, capacity: 1, body) }
    }
}

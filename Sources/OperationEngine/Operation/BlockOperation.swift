import Synchronization

/// An operation that runs one or more blocks, concurrently, and is finished when all have returned (contract K).
open class BlockOperation: Operation, @unchecked Sendable {
    /// The first block, and the others, of which most have none. Guarded by `lock` until the operation begins, then
    /// owned by its thread; released when it is finished.
    @exclusivity(unchecked) final var firstBlock: (@Sendable () -> Void)?
    @exclusivity(unchecked) private final var furtherBlocks: [@Sendable () -> Void]?

    /// An operation without blocks finishes at once when it is started.
    public override init() { super.init() }

    public convenience init(block: @escaping @Sendable () -> Void) {
        self.init()
        firstBlock = block
    }

    /// Adds a block, at any time before the operation executes; later it is a `Misuse` (contract K7).
    open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
        let isTooLate = lock.withLock {
            if state.load().phase.rawValue >= OperationState.Phase.executing.rawValue { return true }
            if firstBlock == nil { firstBlock = block } else { furtherBlocks = (furtherBlocks ?? []) + [block] }
            return false
        }
        if isTooLate { Misuse.executionBlockLate.report() }
    }

    /// The blocks in the order added; empty once the operation is finished.
    open var executionBlocks: [@Sendable () -> Void] {
        lock.withLock { (firstBlock.map { [$0] } ?? []) + (furtherBlocks ?? []) }
    }

    /// Runs the first block on the calling thread and the others on threads of the pool, and returns when all have
    /// returned. The calling thread runs those that no other has begun.
    open override func main() {
        lock.lock()
        let first = firstBlock
        let further = furtherBlocks
        lock.unlock()
        guard let further else {
            first?()
            return
        }
        let group = BlockGroup(further)
        for _ in further { WorkerPool.of(.normal).submit(.block { group.runNext() }) }
        first?()
        while group.runNext() {}
        Worker.waiting { group.wait() }
    }

    override final func executionEnded() {
        // Plain statements instead of `withLock`: a closure that passes a generic function costs an allocation.
        lock.lock()
        let first = firstBlock.take()
        let further = furtherBlocks.take()
        lock.unlock()
        withExtendedLifetime(first) {}
        withExtendedLifetime(further) {}
    }
}

/// Blocks that several threads run, each block once.
private final class BlockGroup: Sendable {
    private let blocks: [@Sendable () -> Void]
    private let begun = Atomic<Int>(0)
    /// Blocks that have not returned. The thread that waits sleeps on it.
    private let unfinished: Atomic<UInt32>

    init(_ blocks: [@Sendable () -> Void]) {
        self.blocks = blocks
        unfinished = Atomic(UInt32(blocks.count))
    }

    /// Runs a block that nobody has begun; false if there is none.
    @discardableResult
    func runNext() -> Bool {
        let index = begun.add(1, ordering: .relaxed).oldValue
        guard index < blocks.count else { return false }
        blocks[index]()
        // Releasing: pairs with the load of `wait`, which publishes the blocks' writes to the operation's dependents.
        if unfinished.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
            Futex.wake(unfinished, count: .max)
        }
        return true
    }

    func wait() {
        while true {
            let rest = unfinished.load(ordering: .acquiring)
            if rest == 0 { return }
            Futex.wait(unfinished, expected: rest)
        }
    }
}

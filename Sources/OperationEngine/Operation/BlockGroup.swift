import Synchronization

extension BlockOperation {
    /// Runs the first block on the calling thread and the others on threads of the pool, and returns when all have
    /// returned. The calling thread runs those that no other has begun, unless it has a thread priority of its own,
    /// which is for the first block alone (contract K9).
    func runTogether(_ first: Block?, _ further: [Block]) {
        let group = BlockGroup(further.map(\.run))
        let queue = Runner.current?.takeUnretainedValue().queue
        for _ in further { WorkerPool.of(.normal).submit(.block { Runner.helping(queue) { group.runNext() } }) }
        first?.run()
        if Runner.current?.takeUnretainedValue().isNormal ?? true {
            while group.runNext() {}
        }
        if !group.hasEnded { Runner.waiting(for: .blocks) { group.wait() } }
    }
}

/// Blocks that several threads run, each block once.
///
/// The pool may keep a group for long after its operation is finished, in items that find nothing left to run. So each
/// block is released as soon as it has run (contract K13).
private final class BlockGroup: @unchecked Sendable {
    private let liveMark = LiveMark(.blockGroup)
    private let count: Int
    /// The blocks not yet begun. Each place belongs to the thread that counted `begun` up to it.
    private let blocks: UnsafeMutablePointer<@Sendable () -> Void>
    private let begun = Atomic<Int>(0)
    /// Blocks that have not returned. The thread that waits sleeps on it.
    private let unfinished: Atomic<UInt32>

    init(_ blocks: [@Sendable () -> Void]) {
        count = blocks.count
        self.blocks = .allocate(capacity: count)
        for (index, block) in blocks.enumerated() { (self.blocks + index).initialize(to: block) }
        unfinished = Atomic(UInt32(count))
    }

    deinit { blocks.deallocate() }

    /// Acquiring: pairs with the subtraction in `runNext`, and publishes the blocks' writes to the operation's thread.
    var hasEnded: Bool { unfinished.load(ordering: .acquiring) == 0 }

    /// Runs a block that nobody has begun; false if there is none.
    @discardableResult
    func runNext() -> Bool {
        let index = begun.wrappingAdd(1, ordering: .relaxed).oldValue
        guard index < count else { return false }
        runAndRelease(index)
        if unfinished.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
            Futex.wake(unfinished, count: .max)
        }
        return true
    }

    /// A function of its own, so that the block is gone before it is counted as finished.
    @inline(never)
    private func runAndRelease(_ index: Int) {
        let block = (blocks + index).move()
        block()
    }

    /// Sleeps until all blocks have returned.
    func wait() {
        while true {
            // Acquiring: as in `hasEnded`.
            let rest = unfinished.load(ordering: .acquiring)
            if rest == 0 { return }
            Futex.wait(unfinished, expected: rest)
        }
    }
}

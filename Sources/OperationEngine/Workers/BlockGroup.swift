import Synchronization

extension BlockOperation {
    /// Runs the first block on the calling thread and the others on threads of the pool. Returns when all have
    /// returned. The calling thread also runs blocks that no other thread has begun, unless it has a thread priority of
    /// its own. That priority is for the first block alone (contract K9).
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

/// The pool may keep a group long after its operation is finished, in items that find nothing left to run. So each
/// block is released as soon as it has run (contract K13).
private final class BlockGroup: @unchecked Sendable {
    private let liveMark = LiveMark(.blockGroup)
    private let count: Int
    /// The blocks that have not begun. Each place belongs to the thread whose addition to `begun` returned its index.
    private let blocks: UnsafeMutablePointer<@Sendable () -> Void>
    private let begun = Atomic<Int>(0)
    /// How many blocks have not returned. The waiting thread sleeps on this word.
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

    /// Runs a block that no thread has begun. Returns false if there is none.
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

    /// A function of its own, so that the block is released before it is counted as finished.
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

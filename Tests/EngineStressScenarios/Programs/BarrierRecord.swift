import OperationEngine
import Synchronization

/// One barrier, and when it was added and ran.
final class BarrierRecord: Sendable {
    /// Its queue's place in the program's list.
    let place: Int
    let addBegin: UInt64
    let addEnd = Atomic<UInt64>(0)
    let runs = Atomic<Int>(0)
    let started = Atomic<UInt64>(0)
    let ended = Atomic<UInt64>(0)
    /// Lives as long as the block.
    private unowned let program: Program

    init(_ place: Int, _ program: Program) {
        self.place = place
        self.program = program
        addBegin = program.history.markCall()
    }

    func add(to queue: OperationQueue) {
        let block = BlockLife(program.liveBarriers)
        queue.addBarrierBlock { [self] in
            withExtendedLifetime(block) {
                runs.add(1, ordering: .relaxed)
                started.store(program.history.mark(), ordering: .relaxed)
                program.run.advance()
                ended.store(program.history.mark(), ordering: .relaxed)
            }
        }
        addEnd.store(program.history.markCall(), ordering: .relaxed)
    }

    /// Counts the block while the queue holds it: until it has run or is cancelled.
    private final class BlockLife: Sendable {
        private let live: LiveCount

        init(_ live: LiveCount) {
            self.live = live
            live.add()
        }

        deinit { live.remove() }
    }
}

import OperationEngine
import Synchronization

/// How many objects there are.
final class LiveCount: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
    func remove() { count.subtract(1, ordering: .relaxed) }
}

/// A queue that is counted while it lives.
final class CountedQueue: OperationQueue, @unchecked Sendable {
    private let live: LiveCount

    init(_ live: LiveCount) {
        self.live = live
        live.add()
        super.init()
    }

    deinit { live.remove() }
}

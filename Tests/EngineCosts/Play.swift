import Dispatch
import OperationEngine
import Synchronization

/// A scenario once played.
struct Play {
    let count: Int
    /// Called once while all operations wait, in scenarios where they do.
    let whilePending: () -> Void

    /// Adds operations that count themselves to a queue, lets it go, and waits until it is empty.
    func onQueue(limit: Int = 1, isSuspended: Bool = true, add: (OperationQueue, Tally) -> Void) {
        let (queue, tally) = (makeQueue(limit: limit, isSuspended: isSuspended), Tally(expecting: count))
        add(queue, tally)
        if queue.isSuspended {
            if queue.operationCount > 0 { whilePending() }
            queue.isSuspended = false
        }
        queue.waitUntilAllOperationsAreFinished()
        tally.check()
    }

    func makeQueue(limit: Int = 1, isSuspended: Bool = true) -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = limit
        queue.isSuspended = isSuspended
        return queue
    }

    func blocks(_ tally: Tally) -> [Operation] {
        (0..<count).map { _ in BlockOperation { tally.count() } }
    }
}

/// Counts what has run, so that a cost is one of operations that did. Any thread.
final class Tally: Sendable {
    private let expected: Int
    private let counted = Atomic<Int>(0)
    private let isComplete = DispatchSemaphore(value: 0)

    init(expecting expected: Int) { self.expected = expected }

    func count() {
        if counted.add(1, ordering: .acquiringAndReleasing).newValue == expected { isComplete.signal() }
    }

    /// Returns once all have come, for those that come after their operation has left the queue.
    func wait() { isComplete.wait() }

    /// Ends the process unless as many have come as were expected.
    func check() {
        let counted = counted.load(ordering: .acquiring)
        if counted != expected { fail("\(counted) ran, not \(expected)") }
    }
}

final class Counting: Operation, @unchecked Sendable {
    private let tally: Tally

    init(_ tally: Tally) { self.tally = tally }

    override func main() { tally.count() }
}

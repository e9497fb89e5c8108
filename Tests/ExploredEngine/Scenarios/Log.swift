import Interleaving

/// The actions of a schedule's threads. Needs no lock: one thread runs at a time.
final class Log: @unchecked Sendable {
    private(set) var entries: [String] = []
    /// How many threads are between `enter` and `leave`, and the most there ever were.
    private(set) var inside = 0
    private(set) var mostInside = 0

    func add(_ entry: String) { entries.append(entry) }
    func count(_ entry: String) -> Int { entries.count { $0 == entry } }

    func enter() {
        inside += 1
        mostInside = max(mostInside, inside)
    }

    func leave() { inside -= 1 }
}

/// Something that a foreign thread may wait for: the engine does not know of this wait.
final class Gate: Sendable {
    private let isOpen = Atomic<UInt32>(0)

    func open() {
        isOpen.store(1, ordering: .releasing)
        Futex.wake(isOpen, count: .max)
    }

    func wait() {
        while isOpen.load(ordering: .acquiring) == 0 { Futex.wait(isOpen, expected: 0) }
    }
}

/// A value that a scenario's threads hand over. Needs no lock: one thread runs at a time.
final class Shared<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}

extension Exploration {
    /// Has the pool's first worker and the monitor started and parked, so that exploration begins with them.
    func warmUp() {
        WorkerPool.of(.normal).submit(.block {})
        settle()
    }

    /// As `warmUp()`, with what most scenarios need.
    func warmUp(limit: Int) -> (log: Log, queue: OperationQueue) {
        warmUp()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = limit
        return (Log(), queue)
    }

    /// Nothing is left in a queue, and its slots are free.
    func checkEmpty(_ queue: OperationQueue, _ line: String) {
        check(queue.operationCount == 0, "\(line): \(queue.operationCount) operations are left")
        check(queue.operations.isEmpty, "\(line): operations are still listed")
        check(queue.core.read { $0.running } == 0, "\(line): a slot is not given back")
        check(queue.core.lock.withLock { queue.core.runners.first == nil }, "\(line): a runner is still listed")
    }

    func checkOnce(_ log: Log, _ entry: String, _ line: String) {
        check(log.count(entry) == 1, "\(line): \(entry) \(log.count(entry)) times, not once")
    }
}

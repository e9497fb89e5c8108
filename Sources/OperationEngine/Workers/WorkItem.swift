/// What the pool hands to a worker.
enum WorkItem {
    /// Run operations of this queue until nothing is left that may start.
    case lease(QueueCore)
    /// Run this block: a completion block, or one of several blocks of a `BlockOperation`.
    case block(@Sendable () -> Void)
}

/// First in, first out, in a ring that grows by doubling. A large one is given back once it is empty.
struct WorkItemQueue {
    private static let smallest = 16
    /// Up to this a ring is kept.
    private static let kept = 1024

    private var ring: [WorkItem?] = Array(repeating: nil, count: smallest)
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ item: WorkItem) {
        if count == ring.count { grow() }
        ring[(head + count) & (ring.count - 1)] = item
        count += 1
    }

    mutating func popFirst() -> WorkItem? {
        guard count > 0 else { return nil }
        let item = ring[head].take()
        head = (head + 1) & (ring.count - 1)
        count -= 1
        if count == 0, ring.count > Self.kept { self = WorkItemQueue() }
        return item
    }

    func visitAll(_ body: (WorkItem) -> Void) {
        for offset in 0..<count {
            if let item = ring[(head + offset) & (ring.count - 1)] { body(item) }
        }
    }

    private mutating func grow() {
        ring = Array(ring[head...] + ring[..<head]) + Array(repeating: nil, count: ring.count)
        head = 0
    }
}

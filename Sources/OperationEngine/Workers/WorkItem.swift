/// Work that the pool hands to a worker.
enum WorkItem {
    /// Run operations of this queue until nothing is left that may start.
    case lease(QueueCore)
    /// Run this block, such as one of several blocks of a `BlockOperation`.
    case block(@Sendable () -> Void)
    /// Run this block of an operation, such as its completion block, and keep the operation until it has returned.
    case completion(Operation, @Sendable () -> Void)
}

/// First in, first out, in a ring that grows by doubling. A large one is given back once it is empty.
struct WorkItemQueue: ~Copyable {
    private static let smallest = 16
    /// Up to this a ring is kept.
    private static let kept = 1024

    /// Initialized are `count` places from `head` on, around the end.
    private var ring: UnsafeMutablePointer<WorkItem>
    /// A power of two.
    private var capacity: Int
    private var head = 0
    private(set) var count = 0

    init() {
        capacity = Self.smallest
        ring = .allocate(capacity: capacity)
    }

    deinit {
        for offset in 0..<count { place(offset).deinitialize(count: 1) }
        ring.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    @inline(__always)
    private func place(_ offset: Int) -> UnsafeMutablePointer<WorkItem> { ring + ((head + offset) & (capacity - 1)) }

    @inline(__always)
    mutating func append(_ item: WorkItem) {
        if count == capacity { move(toCapacity: capacity * 2) }
        place(count).initialize(to: item)
        count += 1
    }

    @inline(__always)
    mutating func popFirst() -> WorkItem? {
        guard count > 0 else { return nil }
        let item = place(0).move()
        head = (head + 1) & (capacity - 1)
        count -= 1
        if count == 0, capacity > Self.kept { move(toCapacity: Self.smallest) }
        return item
    }

    /// Visits the items in order, until `body` says false.
    func visit(_ body: (WorkItem) -> Bool) {
        for offset in 0..<count where !body(place(offset).pointee) { return }
    }

    @inline(never)
    private mutating func move(toCapacity newCapacity: Int) {
        let newRing = UnsafeMutablePointer<WorkItem>.allocate(capacity: newCapacity)
        for offset in 0..<count { (newRing + offset).moveInitialize(from: place(offset), count: 1) }
        ring.deallocate()
        (ring, capacity, head) = (newRing, newCapacity, 0)
    }
}

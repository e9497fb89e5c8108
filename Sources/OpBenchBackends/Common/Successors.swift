import OpBenchModel
import Synchronization

/// The operations that an end makes ready, in chains and graphs whose bodies submit what follows them: the next link, or the
/// successors whose other predecessors have ended, by one atomic counter each.
///
/// Pointers, without reference counting. Inlinable, so that it costs the backends of other modules no more than those of
/// this one.
public struct Successors: @unchecked Sendable {
    /// The operations that wait for nothing.
    public let heads: UnsafeMutableBufferPointer<Int>
    /// How many operations nothing waits for. All is done when these are.
    public let endCount: Int
    @usableFromInline let operationCount: Int
    /// From a link of a chain to the next; 0 in graphs.
    @usableFromInline let distance: Int
    @usableFromInline let rows: GraphRows?
    @usableFromInline let counters: UnsafeMutablePointer<Atomic<Int32>>

    public init(_ plan: WorkloadPlan) {
        operationCount = plan.operationCount
        rows = plan.graph.map { GraphRows($0.successors) }
        distance = plan.graph == nil ? plan.predecessorDistance : 0
        let first = plan.graph?.sources ?? Array(0..<distance)
        heads = .allocate(capacity: first.count)
        _ = heads.initialize(from: first)
        endCount = plan.graph?.sinks.count ?? distance
        counters = .allocate(capacity: plan.graph == nil ? 1 : operationCount)
        guard let graph = plan.graph else { return }
        for operation in 0..<operationCount {
            (counters + operation).initialize(to: Atomic(Int32(graph.predecessors.count(of: operation))))
        }
    }

    public func deallocate() {
        heads.deallocate()
        counters.deallocate()
        rows?.deallocate()
    }

    /// Called when an operation has ended. Ordered so that the last caller sees what all the predecessors did.
    ///
    /// - Parameter submit: called with each that has become ready. With the last of them all may end, and this be freed.
    /// - Returns: whether nothing waits for the operation.
    @inlinable
    @inline(__always)
    public func release(after operation: Int, by submit: (Int) -> Void) -> Bool {
        guard let rows else {
            let next = operation + distance
            if next >= operationCount { return true }
            submit(next)
            return false
        }
        let row = rows[operation]
        for successor in row
        where counters[Int(successor)].subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
            submit(Int(successor))
        }
        return row.isEmpty
    }
}

/// One half of a graph, where a body finds an operation's neighbours without reference counting.
public struct GraphRows: @unchecked Sendable {
    @usableFromInline let starts: UnsafeMutablePointer<Int32>
    @usableFromInline let targets: UnsafeMutablePointer<Int32>

    public init(_ rows: DependencyGraph.Rows) {
        starts = Self.copy(rows.starts)
        targets = Self.copy(rows.targets)
    }

    public func deallocate() {
        starts.deallocate()
        targets.deallocate()
    }

    @inlinable
    @inline(__always)
    public subscript(operation: Int) -> UnsafeBufferPointer<Int32> {
        let start = Int(starts[operation])
        return UnsafeBufferPointer(start: targets + start, count: Int(starts[operation + 1]) - start)
    }

    private static func copy(_ numbers: [Int32]) -> UnsafeMutablePointer<Int32> {
        let copy = UnsafeMutablePointer<Int32>.allocate(capacity: max(1, numbers.count))
        _ = UnsafeMutableBufferPointer(start: copy, count: numbers.count).initialize(from: numbers)
        return copy
    }
}

/// The queues of chains and graphs whose bodies submit what follows them, found by operation without reference counting.
///
/// Without a limit a chain within one queue has a serial queue to itself: it runs there in half the time that it takes on a
/// concurrent one. Inlinable, so that it costs the backends of other modules no more than those of this one.
public struct QueueTable<Queue: AnyObject>: @unchecked Sendable {
    public let queues: [Queue]
    @usableFromInline let places: UnsafeMutablePointer<Unretained<Queue>>
    @usableFromInline let count: UInt32
    @usableFromInline let isAcrossQueues: Bool

    /// - Parameter make: makes a queue of that limit; nil for none.
    public init(_ plan: WorkloadPlan, make: (_ limit: Int?) -> Queue) {
        let given = plan.chains?.queues ?? 1
        isAcrossQueues = given > 1
        let own = plan.limit == nil && !isAcrossQueues ? plan.chains?.count : nil
        queues = (0..<(own ?? given)).map { _ in make(own == nil ? plan.limit : 1) }
        count = UInt32(queues.count)
        places = .allocate(capacity: queues.count)
        for (index, queue) in queues.enumerated() { (places + index).initialize(to: Unretained(queue)) }
    }

    public func deallocate() { places.deallocate() }

    @inlinable
    @inline(__always)
    public func queue(of operation: Int, in plan: WorkloadPlan) -> Unretained<Queue> {
        if count == 1 { return places[0] }
        if isAcrossQueues { return places[plan.queueIndex(of: operation)] }
        return places[Int(UInt32(truncatingIfNeeded: operation) % count)]
    }
}

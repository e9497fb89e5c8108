import OpBenchModel

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

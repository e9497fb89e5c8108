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

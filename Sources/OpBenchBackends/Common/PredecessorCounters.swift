import OpBenchModel
import Synchronization

/// How many predecessors of each operation have not ended, for backends that submit what has become ready themselves.
///
/// Inlinable, so that it costs the backends of other modules no more than those of this one.
public struct PredecessorCounters: @unchecked Sendable {
    @usableFromInline let counters: UnsafeMutablePointer<Atomic<Int32>>

    public init(_ graph: DependencyGraph) {
        counters = .allocate(capacity: graph.operationCount)
        for operation in 0..<graph.operationCount {
            (counters + operation).initialize(to: Atomic(Int32(graph.predecessors.count(of: operation))))
        }
    }

    public func deallocate() { counters.deallocate() }

    /// One more predecessor of the operation has ended.
    ///
    /// - Returns: whether it was the last. Ordered so that whoever comes last sees what all the predecessors did.
    @inlinable
    @inline(__always)
    public func countDown(_ operation: Int) -> Bool {
        counters[operation].subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }
}

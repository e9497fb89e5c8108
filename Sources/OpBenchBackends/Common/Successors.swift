import OpBenchModel
import Synchronization

/// The operations that an end makes ready, in chains and graphs whose bodies submit what follows them: the next link,
/// or the successors whose other predecessors have ended, by one atomic counter each.
///
/// In a replay an operation waits for its arrival as well, which counts as one more predecessor: the last of the two
/// that brings its counter to 0 submits it.
///
/// A pointer, without reference counting.
package struct Successors: @unchecked Sendable {
    private let state: UnsafeMutablePointer<State>

    private struct State {
        let heads: UnsafeMutableBufferPointer<Int>
        let endCount: Int
        let operationCount: Int
        /// From a link of a chain to the next; 0 in graphs.
        let distance: Int
        let rows: GraphRows?
        let awaitsArrivals: Bool
        /// Predecessors that have not ended, by operation, and 1 until it has arrived in a replay; none in chains.
        let counters: UnsafeMutablePointer<Atomic<Int32>>
    }

    package init(_ plan: WorkloadPlan) {
        let arrives = plan.replay != nil
        // In a replay without dependencies nothing follows an operation.
        let distance = plan.graph != nil ? 0 : arrives ? plan.operationCount : plan.predecessorDistance
        let first = arrives ? [] : plan.graph?.sources ?? Array(0..<distance)
        let heads = UnsafeMutableBufferPointer<Int>.allocate(capacity: first.count)
        _ = heads.initialize(from: first)
        let counters = UnsafeMutablePointer<Atomic<Int32>>.allocate(
            capacity: plan.graph == nil && !arrives ? 1 : plan.operationCount)
        if plan.graph != nil || arrives {
            for operation in 0..<plan.operationCount {
                let count = (plan.graph?.predecessors.count(of: operation) ?? 0) + (arrives ? 1 : 0)
                (counters + operation).initialize(to: Atomic(Int32(count)))
            }
        }
        state = .allocate(capacity: 1)
        state.initialize(
            to: State(
                heads: heads, endCount: plan.graph?.sinks.count ?? distance, operationCount: plan.operationCount,
                distance: distance, rows: plan.graph.map { GraphRows($0.successors) }, awaitsArrivals: arrives,
                counters: counters))
    }

    package func deallocate() {
        state.pointee.heads.deallocate()
        state.pointee.counters.deallocate()
        state.pointee.rows?.deallocate()
        state.deallocate()
    }

    /// The operations that wait for nothing.
    package var heads: UnsafeMutableBufferPointer<Int> { state.pointee.heads }

    /// Whether each operation waits for its own arrival.
    package var awaitsArrivals: Bool { state.pointee.awaitsArrivals }

    /// The number of operations that nothing waits for. All is done when these are.
    package var endCount: Int { state.pointee.endCount }

    /// Called when an operation of a replay arrives. Ordered as an end.
    ///
    /// - Returns: whether the operation waits for nothing.
    @inline(__always)
    package func arrive(_ operation: Int) -> Bool {
        state.pointee.counters[operation].subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }

    /// Called when an operation has ended. Ordered so that the last caller sees what all the predecessors did.
    ///
    /// - Parameter submit: called with each that has become ready. With the last of them all may end, and this be
    ///   freed.
    /// - Returns: whether nothing waits for the operation.
    @inline(__always)
    package func release(after operation: Int, by submit: (Int) -> Void) -> Bool {
        guard let rows = state.pointee.rows else {
            let next = operation + state.pointee.distance
            if next >= state.pointee.operationCount { return true }
            submit(next)
            return false
        }
        let counters = state.pointee.counters
        let row = rows[operation]
        for successor in row
        where counters[Int(successor)].subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
            submit(Int(successor))
        }
        return row.isEmpty
    }
}

/// One half of a graph, where a body finds an operation's neighbours without reference counting.
package struct GraphRows: @unchecked Sendable {
    let starts: UnsafeMutablePointer<Int32>
    let targets: UnsafeMutablePointer<Int32>

    package init(_ rows: DependencyGraph.Rows) {
        starts = Self.copy(rows.starts)
        targets = Self.copy(rows.targets)
    }

    package func deallocate() {
        starts.deallocate()
        targets.deallocate()
    }

    @inline(__always)
    package subscript(operation: Int) -> UnsafeBufferPointer<Int32> {
        let start = Int(starts[operation])
        return UnsafeBufferPointer(start: targets + start, count: Int(starts[operation + 1]) - start)
    }

    private static func copy(_ numbers: [Int32]) -> UnsafeMutablePointer<Int32> {
        let copy = UnsafeMutablePointer<Int32>.allocate(capacity: max(1, numbers.count))
        _ = UnsafeMutableBufferPointer(start: copy, count: numbers.count).initialize(from: numbers)
        return copy
    }
}

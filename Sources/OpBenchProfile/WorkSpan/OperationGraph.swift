/// Which operation had to end before which could start: the dependencies of a trace, and those that its barriers imply.
///
/// A barrier starts when all operations that were submitted to its queue before it have ended, and those submitted
/// after it start when it has. Operations of one submission time are taken in the order of the trace.
public struct OperationGraph: Sendable {
    public let count: Int
    private let before: Adjacency
    private let after: Adjacency
    /// Every operation behind all of its predecessors.
    public let order: [UInt32]

    /// - Parameter trace: one that `SampleTrace.check()` takes.
    /// - Throws: `TraceError` if operations wait for one another in a circle. In an executed program they cannot; a barrier
    ///   whose predecessor depends on its successor is a deadlock.
    public init(_ trace: SampleTrace) throws(TraceError) {
        count = trace.operations.count
        var edges = trace.dependencies
        Self.appendBarriers(of: trace, to: &edges)
        let before = Adjacency(nodes: count, edges.map { ($0.successor, $0.predecessor) })
        let after = Adjacency(nodes: count, edges.map { ($0.predecessor, $0.successor) })
        (self.before, self.after) = (before, after)

        var left = (0..<count).map { UInt32(before[$0].count) }
        var order = left.indices.filter { left[$0] == 0 }.map { UInt32($0) }
        order.reserveCapacity(count)
        var next = 0
        while next < order.count {
            for successor in after[Int(order[next])] {
                left[Int(successor)] -= 1
                if left[Int(successor)] == 0 { order.append(successor) }
            }
            next += 1
        }
        if let stuck = left.firstIndex(where: { $0 > 0 }), order.count < count {
            throw TraceError("operation \(stuck) waits in a circle of dependencies and barriers")
        }
        self.order = order
    }

    public func predecessors(of operation: Int) -> ArraySlice<UInt32> { before[operation] }
    public func successors(of operation: Int) -> ArraySlice<UInt32> { after[operation] }

    private static func appendBarriers(of trace: SampleTrace, to edges: inout [TracedDependency]) {
        for order in trace.submissionOrdersWithBarriers() {
            var barrier: UInt32?
            var group: [UInt32] = []
            for entry in order {
                if let barrier { edges.append(TracedDependency(barrier, before: entry.operation)) }
                if entry.isBarrier {
                    edges += group.map { TracedDependency($0, before: entry.operation) }
                    (barrier, group) = (entry.operation, [])
                } else {
                    group.append(entry.operation)
                }
            }
        }
    }
}

extension SampleTrace {
    /// The operations of each queue that had a barrier, as they were submitted.
    func submissionOrdersWithBarriers() -> [[(operation: UInt32, isBarrier: Bool)]] {
        var barriers: [UInt16: Set<UInt32>] = [:]
        for span in spans where span.kind == .barrier { barriers[span.queue, default: []].insert(span.operation) }
        guard !barriers.isEmpty else { return [] }
        var members: [UInt16: [UInt32]] = [:]
        for (index, operation) in operations.enumerated() where barriers[operation.queue] != nil {
            members[operation.queue, default: []].append(UInt32(index))
        }
        return barriers.keys.sorted().map { queue in
            (members[queue] ?? [])
                .sorted { (operations[Int($0)].submit, $0) < (operations[Int($1)].submit, $1) }
                .map { ($0, barriers[queue]!.contains($0)) }
        }
    }
}

/// The order constraints between operations, from a trace's dependencies and barriers, and the operations that
/// submitted others.
///
/// A barrier starts when all operations that were submitted to its queue before it have ended, and later operations
/// start after it has ended. Operations with equal submission times are in the trace's order.
public struct OperationGraph: Sendable {
    public let count: Int
    private let before: Adjacency
    private let submitters: [UInt32]
    /// A topological order: every operation comes after its predecessors and its submitter.
    public let order: [UInt32]

    /// - Parameter trace: a trace that passes `SampleTrace.check()`.
    /// - Throws: `RecordError` if operations wait for one another in a cycle. In an executed program they cannot; a
    ///   barrier whose predecessor depends on its successor is a deadlock.
    public init(_ trace: SampleTrace) throws(RecordError) {
        count = trace.operations.count
        var edges = trace.dependencies
        Self.appendBarriers(of: trace, to: &edges)
        before = Adjacency(nodes: count, edges.map { ($0.successor, $0.predecessor) })
        let after = Adjacency(nodes: count, edges.map { ($0.predecessor, $0.successor) })
        let submitters = trace.submittingOperations()
        let pairs = submitters.enumerated().filter { $0.element != .max }.map { ($0.element, UInt32($0.offset)) }
        let submitted = Adjacency(nodes: count, pairs)
        if let order = Self.order(count, before, [after, submitted], submitters) {
            (self.order, self.submitters) = (order, submitters)
            return
        }
        // A cycle only through submissions means that the trace's times contradict its dependencies.
        let none = [UInt32](repeating: .max, count: count)
        guard let order = Self.order(count, before, [after], none) else {
            throw RecordError("operations wait in a cycle of dependencies and barriers")
        }
        (self.order, self.submitters) = (order, none)
    }

    /// A topological order; nil if there is a cycle.
    private static func order(
        _ count: Int, _ before: Adjacency, _ following: [Adjacency], _ submitters: [UInt32]
    ) -> [UInt32]? {
        var left = (0..<count).map { UInt32(before[$0].count) + (submitters[$0] == .max ? 0 : 1) }
        var order = left.indices.filter { left[$0] == 0 }.map { UInt32($0) }
        order.reserveCapacity(count)
        var next = 0
        while next < order.count {
            for adjacency in following {
                for successor in adjacency[Int(order[next])] {
                    left[Int(successor)] -= 1
                    if left[Int(successor)] == 0 { order.append(successor) }
                }
            }
            next += 1
        }
        return order.count == count ? order : nil
    }

    /// The operation whose body or completion block submitted this one.
    public func submitter(of operation: Int) -> Int? {
        submitters[operation] == .max ? nil : Int(submitters[operation])
    }

    public func predecessors(of operation: Int) -> ArraySlice<UInt32> { before[operation] }

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
    /// The operations of each queue that had a barrier, in the order of submission.
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

    /// For each operation, the one whose body or completion was on the submitting thread at that time; of several, the
    /// last started; `UInt32.max` if there was none.
    func submittingOperations() -> [UInt32] {
        var submitters = [UInt32](repeating: .max, count: operations.count)
        var members = [[UInt32]](repeating: [], count: threads.count)
        for (index, operation) in operations.enumerated()
        where operation.wasExecuted && operation.worker != TracedOperation.unknown {
            members[Int(operation.worker)].append(UInt32(index))
        }
        for thread in members.indices { members[thread].sort { key($0) < key($1) } }
        for (index, operation) in operations.enumerated() where operation.submitter != TracedOperation.unknown {
            let own = members[Int(operation.submitter)]
            // The first that started after the submission; the one before it started last.
            let next = own.partition { operations[Int($0)].start > operation.submit }
            guard next > 0 else { continue }
            let candidate = operations[Int(own[next - 1])]
            let end = candidate.notified == .absent ? candidate.end : candidate.notified
            if operation.submit <= end, own[next - 1] != index { submitters[index] = own[next - 1] }
        }
        return submitters
    }

    private func key(_ operation: UInt32) -> (TraceTime, UInt32) { (operations[Int(operation)].start, operation) }
}

/// Values that belong to each of many nodes, in two flat arrays: the values of all nodes in order, and the start of
/// each node's values.
struct Adjacency {
    private var starts: [UInt32]
    private var values: [UInt32]

    init(nodes: Int, _ pairs: [(node: UInt32, value: UInt32)]) {
        starts = [UInt32](repeating: 0, count: nodes + 1)
        for pair in pairs { starts[Int(pair.node) + 1] += 1 }
        for node in 0..<nodes { starts[node + 1] += starts[node] }
        var places = starts
        values = [UInt32](repeating: 0, count: pairs.count)
        for pair in pairs {
            values[Int(places[Int(pair.node)])] = pair.value
            places[Int(pair.node)] += 1
        }
    }

    /// The node's values, in the order in which they were given.
    subscript(node: Int) -> ArraySlice<UInt32> { values[Int(starts[node])..<Int(starts[node + 1])] }
}

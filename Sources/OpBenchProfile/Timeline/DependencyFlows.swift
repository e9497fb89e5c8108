/// The arrows that start and end at each operation, by the dependencies' places in the trace. Two flat arrays each way.
struct DependencyFlows {
    private let outgoing: Adjacency
    private let incoming: Adjacency

    /// Of dependencies both of whose operations were executed: an arrow needs two bars.
    init(_ trace: SampleTrace) {
        let drawn = trace.dependencies.indices.filter { index in
            let dependency = trace.dependencies[index]
            return trace.operations[Int(dependency.predecessor)].wasExecuted
                && trace.operations[Int(dependency.successor)].wasExecuted
        }
        let count = trace.operations.count
        outgoing = Adjacency(
            nodes: count, drawn.map { (trace.dependencies[$0].predecessor, UInt32($0)) })
        incoming = Adjacency(nodes: count, drawn.map { (trace.dependencies[$0].successor, UInt32($0)) })
    }

    func starting(_ operation: Int) -> ArraySlice<UInt32> { outgoing[operation] }
    func ending(_ operation: Int) -> ArraySlice<UInt32> { incoming[operation] }
}

/// What belongs to each of many nodes, in two flat arrays: the values of all nodes one after the other, and where each
/// node's begin.
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

    /// In the order in which they were given.
    subscript(node: Int) -> ArraySlice<UInt32> { values[Int(starts[node])..<Int(starts[node + 1])] }
}

extension WorkloadPlan {
    /// How far back an operation's predecessor is in chains; 0 in other shapes.
    @inlinable public var predecessorDistance: Int { chains?.count ?? 0 }

    public var hasDependencies: Bool { chains != nil || graph != nil }

    /// Calls `body` with every dependency: first the operation that waits, then the one it waits for.
    @inlinable
    public func forEachDependency(_ body: (Int, Int) -> Void) {
        if let graph {
            for operation in 0..<operationCount {
                for predecessor in graph.predecessors[operation] { body(operation, Int(predecessor)) }
            }
        } else if predecessorDistance > 0, predecessorDistance < operationCount {
            for operation in predecessorDistance..<operationCount { body(operation, operation - predecessorDistance) }
        }
    }

    /// How long an operation's body takes by the plan, its work and its sleep, in nanoseconds; nil if it waits for the end
    /// of another.
    package func plannedNanoseconds(of operation: Int) -> Int? {
        let items = operation == operationCount - 1 ? lastItems : itemsPerOperation
        let work = items * workNanoseconds + (operation == stalledOperation ? stall?.nanoseconds ?? 0 : 0)
        guard let blocking else { return work }
        return blocking.partner(of: operation, among: operationCount) == nil ? work + blocking.nanoseconds : nil
    }

    // MARK: What no scheduling can beat

    /// All work of one round, in nanoseconds.
    public var workTotal: Double { Double(itemCount) * Double(workNanoseconds) }

    /// The work on the longest path of dependencies, in nanoseconds: no number of processors is faster. Nil in shapes
    /// without dependencies.
    public var workSpan: Double? {
        (chains?.depth ?? graph?.span).map { Double($0) * Double(itemsPerOperation) * Double(workNanoseconds) }
    }

    /// The shortest possible makespan on that many processors, by work and span; nil in shapes without dependencies, and
    /// without work.
    public func idealMakespan(processors: Int) -> Double? {
        guard let workSpan, workNanoseconds > 0 else { return nil }
        let slots = limit.map { $0 * (chains?.queues ?? 1) } ?? processors
        return max(workTotal / Double(min(processors, slots)), workSpan)
    }
}

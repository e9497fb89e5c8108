/// A guess of the time that a round of a shape takes, by its parameters and the backend.
package struct RoundEstimate: Sendable {
    /// What one operation costs beside its work, in nanoseconds, on every backend with a queue; nil: what the backend says.
    var operationNanoseconds: Double?
    /// Whether operations wait for others, which costs some backends more.
    var hasDependencies = false
    /// What the parameters alone make a round wait, in seconds.
    var pause: @Sendable (Cell) -> Double = { _ in 0 }
    /// The time of a round in seconds, where the other values do not make it up.
    var whole: (@Sendable (Cell, BackendID) -> Double)?
    /// The rounds of a latency sample, where they decide how long it takes; nil: it takes its target.
    var latencyRounds: @Sendable (Cell) -> Double? = { _ in nil }

    /// In seconds.
    ///
    /// - Parameter operationCount: how many operations a round of the cell has, and how many items of work.
    func seconds(of cell: Cell, operations: Int, items: Int, on backend: BackendID) -> Double {
        if let whole { return whole(cell, backend) }
        let cost = BackendDefinition.of(backend)?.cost ?? OperationCost()
        let threads = cost.isLoop || cell.maxConcurrent == 1 ? 1.0 : 2
        let work = Double(items) * Double(cell.integer("work_ns")) / threads
        let each = nanosecondsPerOperation(cost, of: operations)
        return (Double(operations) * each + work) / 1e9 + pause(cell)
    }

    private func nanosecondsPerOperation(_ cost: OperationCost, of operations: Int) -> Double {
        if cost.isLoop { return cost.nanoseconds }
        if let operationNanoseconds { return operationNanoseconds }
        guard hasDependencies, let dependent = cost.dependent else { return cost.nanoseconds }
        return dependent.nanoseconds + dependent.nanosecondsPerOperation * Double(operations)
    }
}

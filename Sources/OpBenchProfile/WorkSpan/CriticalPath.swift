/// The chain of operations that the sample's end waited for, as they were executed: from the operation that ended last
/// back to the predecessor that ended last before it, and so on. With what each waited for, it accounts for every
/// nanosecond from the first submission to the last end.
///
/// Where an operation was submitted after all of its predecessors had ended, none of them kept it. The chain goes on with
/// the operation in whose body it was submitted, up to there; if that was in none, the chain begins, and the time before
/// is the submitter's.
public struct CriticalPath: Equatable, Sendable {
    public struct Step: Equatable, Sendable {
        /// By its place in the trace.
        public var operation: Int
        /// From the end of the step before, or from the first submission, to its start; and in its body for a processor.
        public var wait: WaitSplit
        /// What its body took, behind the end of the step before, and up to where it submitted the next.
        public var duration: Int64
    }

    /// In the order of time.
    public let steps: [Step]

    /// The sum of all steps' waits.
    public var waits: WaitSplit { steps.reduce(WaitSplit()) { $0 + $1.wait } }
    /// The sum of all steps' bodies.
    public var duration: Int64 { steps.reduce(0) { $0 + $1.duration } }
    /// `SampleTrace.elapsed`.
    public var total: Int64 { waits.total + duration }

    /// - Parameter trace: one that `SampleTrace.check()` takes.
    public init(_ trace: SampleTrace, _ graph: OperationGraph) {
        let operations = trace.operations
        let executed = operations.indices.filter { operations[$0].wasExecuted }
        // Of those that ended together, the first.
        guard let origin = trace.executedRange?.lowerBound,
            let last = executed.max(by: { (operations[$0].end, $1) < (operations[$1].end, $0) })
        else {
            steps = []
            return
        }
        var queries: [WaitAnalysis.Query] = []
        var elapsed: [Int64] = []
        var isOnPath = operations.map { _ in false }
        // Up to where the operation counts.
        var (next, until) = (Optional(last), operations[last].end)
        while let index = next {
            isOnPath[index] = true
            let operation = operations[index]
            let predecessor = graph.predecessors(of: index).map { Int($0) }
                .filter { candidate in
                    let end = operations[candidate].end
                    return operations[candidate].wasExecuted && end > operation.submit && end <= until
                }
                .max { (operations[$0].end, $1) < (operations[$1].end, $0) }
            var cause = predecessor ?? graph.submitter(of: index)
            // Times that contradict each other might lead in a cycle.
            if let known = cause, isOnPath[known] { cause = nil }
            let released = cause.map { min(operations[$0].end, predecessor == nil ? operation.submit : .max) } ?? origin
            queries.append(WaitAnalysis.Query(operation: index, from: min(released, operation.start)))
            elapsed.append(until - max(operation.start, released))
            (next, until) = (cause, released)
        }
        let waits = WaitAnalysis.splits(trace, queries)
        steps = queries.indices.reversed().map { index in
            let operation = queries[index].operation
            // Of a part of a body it is not known how much of the wait was in it: as little as may be.
            let duration = min(elapsed[index], operations[operation].duration)
            var wait = waits[index]
            wait.processor = elapsed[index] - duration
            return Step(operation: operation, wait: wait, duration: duration)
        }
    }

    /// The steps that took longest, with the waits before them; of equal ones, the first.
    public func longest(_ count: Int) -> [Step] {
        Array(
            steps.enumerated()
                .sorted {
                    let (left, right) = (
                        $0.element.wait.total + $0.element.duration, $1.element.wait.total + $1.element.duration
                    )
                    return (right, $0.offset) < (left, $1.offset)
                }
                .prefix(count).map(\.element))
    }
}

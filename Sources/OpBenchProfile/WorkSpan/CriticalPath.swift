/// The chain of operations that determined the sample's end, as they were executed: from the operation that ended last
/// back to its predecessor that ended last, and so on. With the waits of each step, it accounts for every nanosecond
/// from the first submission to the last end.
///
/// If an operation was submitted after all of its predecessors had ended, none of them delayed it. Then the chain
/// continues with the operation whose body submitted it, up to that point. If no body did, the chain begins there, and
/// the time before belongs to the submitter.
public struct CriticalPath: Equatable, Sendable {
    public struct Step: Equatable, Sendable {
        /// The operation's index in the trace.
        public var operation: Int
        /// The wait from the end of the previous step, or from the first submission, to its start; and its body's.
        public var wait: WaitSplit
        /// The time of its body with a processor after the end of the previous step, up to the submission of the next.
        public var duration: Int64
    }

    /// The steps in chronological order.
    public let steps: [Step]

    /// The sum of all steps' waits.
    public var waits: WaitSplit { steps.reduce(WaitSplit()) { $0 + $1.wait } }
    /// The sum of all steps' bodies.
    public var duration: Int64 { steps.reduce(0) { $0 + $1.duration } }
    /// `SampleTrace.elapsed`.
    public var total: Int64 { waits.total + duration }

    /// - Parameter trace: a trace that passes `SampleTrace.check()`.
    public init(_ trace: SampleTrace, _ graph: OperationGraph) {
        let operations = trace.operations
        let executed = operations.indices.filter { operations[$0].wasExecuted }
        // The first of those that ended together.
        guard let origin = trace.executedRange?.lowerBound,
            let last = executed.max(by: { (operations[$0].end, $1) < (operations[$1].end, $0) })
        else {
            steps = []
            return
        }
        var queries: [WaitAnalysis.Query] = []
        var elapsed: [Int64] = []
        var isOnPath = operations.map { _ in false }
        // The end of the operation's part in the chain.
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
            // Contradictory times could lead to a cycle.
            if let known = cause, isOnPath[known] { cause = nil }
            let released = cause.map { min(operations[$0].end, predecessor == nil ? operation.submit : .max) } ?? origin
            queries.append(WaitAnalysis.Query(operation: index, from: min(released, operation.start)))
            elapsed.append(until - max(operation.start, released))
            (next, until) = (cause, released)
        }
        let waits = WaitAnalysis.splits(trace, queries)
        steps = queries.indices.reversed().map { index in
            let operation = queries[index].operation
            // For a part of a body, the share of the waits in it is unknown; assume the least.
            let duration = min(elapsed[index], operations[operation].ownTime)
            var (wait, rest) = (waits[index], elapsed[index] - duration)
            for reason in [WaitReason.blocked, .blockedOrProcessor, .processor] {
                let part = min(rest, operations[operation].bodyWaits[reason])
                wait[reason] += part
                rest -= part
            }
            return Step(operation: operation, wait: wait, duration: duration)
        }
    }

    /// The longest steps, including the waits before them; the first of equal ones.
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

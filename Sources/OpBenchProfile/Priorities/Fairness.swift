/// The distribution of waits over classes, from ready to start, excluding time for which the queue was suspended or
/// held by a barrier.
public struct Fairness: Equatable, Sendable {
    public struct ClassWait: Equatable, Sendable {
        /// The name in the trace.
        public var name: String
        /// The number of executed operations.
        public var count: Int
        /// The total wait, in nanoseconds.
        public var total: Int64
        public var longest: Int64

        public var mean: Double { count > 0 ? Double(total) / Double(count) : 0 }
    }

    public struct Starvation: Equatable, Sendable {
        /// The operation's index in the trace.
        public var operation: Int
        /// The wait in nanoseconds.
        public var wait: Int64
        /// The number of operations of its queue that became ready after it and started before it.
        public var overtakenBy: Int
    }

    /// The classes with operations, in the trace's order.
    public let classes: [ClassWait]
    /// The operation that waited longest, the first of several; nil if nothing was executed.
    public let longestStarvation: Starvation?

    /// Jain's index over the classes' mean waits: (Σx)² ÷ (n · Σx²). It is 1 if all classes wait equally, and 1 ÷ n if
    /// one class has all the waiting. From Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination
    /// for resource allocation in shared computer systems" (DEC-TR-301, 1984), where x is a user's allocation; here it
    /// is a class's wait.
    public var index: Double { Self.index(classes.map(\.mean)) }

    /// Jain's index; 1 for an empty list, and if all values are 0.
    public static func index(_ values: [Double]) -> Double {
        let (sum, squares) = (values.reduce(0, +), values.reduce(0) { $0 + $1 * $1 })
        return squares > 0 ? sum * sum / (Double(values.count) * squares) : 1
    }

    /// - Parameters:
    ///   - trace: a trace that passes `SampleTrace.check()`.
    ///   - waits: the waits of the same trace.
    public init(_ trace: SampleTrace, _ waits: WaitAnalysis) {
        var classes = [ClassWait](repeating: ClassWait(name: "", count: 0, total: 0, longest: 0), count: 256)
        var starved: Starvation?
        for (index, operation) in trace.operations.enumerated() where operation.wasExecuted {
            let split = waits.splits[index]
            let wait = operation.start - operation.ready - split[.suspension] - split[.barrier]
            let place = Int(operation.operationClass)
            classes[place].name = trace.className(of: operation)
            classes[place].count += 1
            classes[place].total += wait
            classes[place].longest = max(classes[place].longest, wait)
            if wait > starved?.wait ?? -1 { starved = Starvation(operation: index, wait: wait, overtakenBy: 0) }
        }
        if let victim = starved?.operation {
            let own = trace.operations[victim]
            starved?.overtakenBy = trace.operations.count { other in
                other.wasExecuted && other.queue == own.queue && other.ready > own.ready && other.start < own.start
            }
        }
        self.classes = classes.filter { $0.count > 0 }
        longestStarvation = starved
    }
}

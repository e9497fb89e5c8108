/// Who waited how long: by class, from ready to start, without the time for which the queue was suspended or behind a
/// barrier.
public struct Fairness: Equatable, Sendable {
    public struct ClassWait: Equatable, Sendable {
        /// As in the trace.
        public var name: String
        /// How many were executed.
        public var count: Int
        /// In nanoseconds, of all together.
        public var total: Int64
        public var longest: Int64

        public var mean: Double { count > 0 ? Double(total) / Double(count) : 0 }
    }

    public struct Starvation: Equatable, Sendable {
        /// By its place in the trace.
        public var operation: Int
        /// In nanoseconds.
        public var wait: Int64
        /// How many operations of its queue became ready after it and were started before it.
        public var overtakenBy: Int
    }

    /// Those with operations, in the trace's order.
    public let classes: [ClassWait]
    /// The operation that waited longest, the first of several; nil if nothing was executed.
    public let longestStarvation: Starvation?

    /// Jain's index over the classes' mean waits: (Σx)² ÷ (n · Σx²). 1 if all classes wait alike, 1 ÷ n if one bears
    /// all the waiting. From Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for resource
    /// allocation in shared computer systems" (DEC-TR-301, 1984), where x is what each user is given; here it is what
    /// each is made to wait.
    public var index: Double { Self.index(classes.map(\.mean)) }

    /// 1 for none, and if all are 0: nobody is worse off.
    public static func index(_ values: [Double]) -> Double {
        let (sum, squares) = (values.reduce(0, +), values.reduce(0) { $0 + $1 * $1 })
        return squares > 0 ? sum * sum / (Double(values.count) * squares) : 1
    }

    /// - Parameters:
    ///   - trace: one that `SampleTrace.check()` takes.
    ///   - waits: of the same trace.
    public init(_ trace: SampleTrace, _ waits: WaitAnalysis) {
        var classes = [ClassWait](repeating: ClassWait(name: "", count: 0, total: 0, longest: 0), count: 256)
        var starved: Starvation?
        for (index, operation) in trace.operations.enumerated() where operation.wasExecuted {
            let split = waits.splits[index]
            let wait = operation.start - operation.ready - split.suspension - split.barrier
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

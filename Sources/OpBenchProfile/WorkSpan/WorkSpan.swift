/// Work and span of a sample: the possible parallelism of its operations, and how well it was used.
///
/// The model is a directed acyclic graph: its nodes are the operations, each with the duration of its body
/// (`TracedOperation.duration`), and its edges are the dependencies (`OperationGraph`). The terms are those of He,
/// Leiserson and Leiserson, "The Cilkview scalability analyzer" (SPAA 2010), and of the reference of OpenCilk's
/// Cilkscale. If an operation was submitted in another's body, the chain passes through that body up to the submission,
/// as Cilk's strands end where they spawn. Work of other threads before a submission is in no chain; `CriticalPath`
/// shows it.
public struct WorkSpan: Equatable, Sendable {
    /// T₁: the sum of all bodies, in nanoseconds.
    public let work: Int64
    /// T∞: the longest chain of bodies, each of which had to wait for the previous one, or for its part up to the
    /// submission.
    public let span: Int64
    /// The operations of that chain, in order.
    public let spanPath: [Int]
    /// T_P as measured: from the first submission to the last end.
    public let elapsed: Int64
    /// P: the number of workers.
    public let workers: Int
    /// The cost of each operation on a path besides its body.
    public let burden: Int64
    /// The longest chain when the burden is added to each body: the span for unlimited workers with the real cost of
    /// handing over operations. Cilkview assumes 15,000 instructions per move; here it is measured, see
    /// `WaitAnalysis.burden`.
    public let burdenedSpan: Int64
    /// Work and span by the planned durations of bodies; nil unless the plan has one for each executed operation, not
    /// all 0.
    public let planned: Planned?

    public struct Planned: Equatable, Sendable {
        /// Nanoseconds.
        public var work: Int64
        public var span: Int64
    }

    /// - Parameters:
    ///   - trace: a trace that passes `SampleTrace.check()`.
    ///   - burden: the burden in nanoseconds, not negative.
    public init(_ trace: SampleTrace, _ graph: OperationGraph, burden: Int64 = 0) {
        let durations = trace.operations.map(\.duration)
        let chains = Chains(trace, graph, durations, burden: 0)
        work = durations.reduce(0, +)
        span = chains.longest
        spanPath = chains.path
        elapsed = trace.elapsed
        workers = trace.mostWorkers
        self.burden = burden
        burdenedSpan = Chains(trace, graph, durations, burden: burden).longest
        planned = Self.planned(trace, graph)
    }

    private static func planned(_ trace: SampleTrace, _ graph: OperationGraph) -> Planned? {
        let durations = trace.operations.map { $0.wasExecuted ? $0.planned : 0 }
        guard !durations.contains(.absent) else { return nil }
        let work = durations.reduce(0, +)
        return work > 0 ? Planned(work: work, span: Chains(trace, graph, durations, burden: 0).longest) : nil
    }

    /// The longest chains from the beginning to each operation.
    private struct Chains {
        private(set) var longest: Int64 = 0
        /// The operations of the longest chain.
        private(set) var path: [Int] = []

        init(_ trace: SampleTrace, _ graph: OperationGraph, _ durations: [Int64], burden: Int64) {
            // The start of each body with unlimited workers.
            var starts = [Int64](repeating: 0, count: graph.count)
            var through = [Int?](repeating: nil, count: graph.count)
            var last: Int?
            for index in graph.order.map({ Int($0) }) {
                var (start, before): (Int64, Int?) = (0, nil)
                for predecessor in graph.predecessors(of: index).map({ Int($0) }) {
                    let end = starts[predecessor] + durations[predecessor]
                    if end > start || before == nil { (start, before) = (end, predecessor) }
                }
                if let submitter = graph.submitter(of: index) {
                    let time = starts[submitter] + trace.bodyBeforeSubmission(of: index, in: submitter, durations)
                    if time > start || before == nil { (start, before) = (time, submitter) }
                }
                starts[index] = start + (trace.operations[index].wasExecuted ? burden : 0)
                through[index] = before
                let end = starts[index] + durations[index]
                if last == nil || end > longest { (last, longest) = (index, end) }
            }
            while let operation = last {
                path.append(operation)
                last = through[operation]
            }
            path.reverse()
        }
    }

    // MARK: Derived figures

    /// T₁ ÷ T∞: the limit of the speedup with any number of workers.
    public var parallelism: Double { ratio(Double(work), Double(span)) }

    /// T₁ over the burdened span: the number of workers that are useful at the real cost of operations.
    public var burdenedParallelism: Double { ratio(Double(work), Double(burdenedSpan)) }

    /// The average number of operations running at once.
    public var averageParallelism: Double { ratio(Double(work), Double(elapsed)) }

    /// The share of the workers' time spent in bodies.
    public var utilisation: Double { ratio(Double(work), Double(elapsed) * Double(workers)) }

    /// The work law and the span law: no schedule takes less than max(T₁ ÷ P, T∞). In nanoseconds.
    public var lowerBound: Double { max(Double(work) / Double(workers), Double(span)) }

    /// The upper bound for a scheduler that leaves no worker idle while an operation is ready: (T₁ − T∞) ÷ P + T∞. From
    /// Graham, "Bounds on multiprocessing timing anomalies" (1969), and Brent, "The parallel evaluation of general
    /// arithmetic expressions" (JACM 1974). Limits and suspensions keep workers idle intentionally, so they may exceed
    /// it.
    public var brentBound: Double { Double(work - span) / Double(workers) + Double(span) }

    /// The ratio of the lower bound to the measured time: 1 if no scheduler could have been faster.
    public var schedulingEfficiency: Double { ratio(lowerBound, Double(elapsed)) }

    private func ratio(_ part: Double, _ whole: Double) -> Double { whole > 0 ? part / whole : 0 }
}

extension SampleTrace {
    /// The part of its submitter's body before an operation's submission: the whole body, if the completion block
    /// submitted it.
    ///
    /// - Parameter durations: the durations of all bodies.
    fileprivate func bodyBeforeSubmission(of operation: Int, in submitter: Int, _ durations: [Int64]) -> Int64 {
        min(operations[operation].submit - operations[submitter].start, durations[submitter])
    }
}

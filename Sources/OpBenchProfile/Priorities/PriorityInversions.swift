import OpBenchModel

/// Starts that passed over a ready operation of a higher priority, by the rule of `Inversions`.
///
/// An operation that became ready within `tolerance` of the choice is not a victim, because time stamps are not taken
/// at the choice itself. Nor is an operation in a suspended queue or behind a barrier, since it could not start.
public struct PriorityInversions: Equatable, Sendable {
    public struct Inversion: Equatable, Sendable {
        /// The index of the started operation in the trace.
        public var culprit: Int
        /// The index of the ready operation with the highest priority, and among these the longest ready.
        public var victim: Int
        /// The culprit's start.
        public var time: TraceTime
        /// The time for which the victim had been ready.
        public var waited: Int64
        /// The time for which the culprit delayed the victim: until the culprit's end or the victim's start.
        public var delay: Int64
    }

    /// One for each culprit, in chronological order.
    public let inversions: [Inversion]
    /// The number of started operations.
    public let starts: Int

    /// The sum of all delays in nanoseconds; a delay by two culprits at once counts twice.
    public var delay: Int64 { inversions.reduce(0) { $0 + $1.delay } }
    public var worst: Inversion? { inversions.max { ($0.delay, $1.culprit) < ($1.delay, $0.culprit) } }

    /// - Parameters:
    ///   - trace: a trace that passes `SampleTrace.check()`.
    ///   - tolerance: the tolerance in nanoseconds.
    public init(_ trace: SampleTrace, tolerance: Int64 = 0) {
        let executed = trace.operations.indices.filter { trace.operations[$0].wasExecuted }
        starts = executed.count
        let barriers = WaitAnalysis.barrierEnds(trace)
        var found: [Inversion] = []
        for (_, members) in Dictionary(grouping: executed, by: { trace.operations[$0].queue })
        where Set(members.lazy.map { trace.operations[$0].priority }).count > 1 {
            found += Self.inversions(in: trace, members, barriers, tolerance)
        }
        inversions = found.sorted { ($0.time, $0.culprit) < ($1.time, $1.culprit) }
    }

    private static func inversions(
        in trace: SampleTrace, _ members: [Int], _ barriers: [UInt32: TraceTime], _ tolerance: Int64
    ) -> [Inversion] {
        let operations = trace.operations
        /// The time from which the queue could have started it: ready, and past the barriers before it.
        func startable(_ index: Int) -> TraceTime { max(operations[index].ready, barriers[UInt32(index)] ?? .min) }
        let suspensions = Suspensions(trace, queue: operations[members[0]].queue)
        let victims = Inversions.victims(
            in: members.map {
                let operation = operations[$0]
                return OrderedOperation(
                    ready: startable($0) + tolerance, start: operation.start, end: operation.end,
                    level: Int(operation.priority))
            })
        return zip(members, victims).compactMap { culprit, place in
            guard let victim = place.map({ members[$0] }), !suspensions.holds(at: operations[culprit].start) else {
                return nil
            }
            let start = operations[culprit].start
            return Inversion(
                culprit: culprit, victim: victim, time: start, waited: start - startable(victim),
                delay: min(operations[culprit].end, operations[victim].start) - start)
        }
    }
}

/// The times for which a queue was suspended.
struct Suspensions {
    /// Suspensions in order, without overlaps.
    private var spans: [(start: TraceTime, end: TraceTime)] = []

    init(_ trace: SampleTrace, queue: UInt16) {
        let own = trace.spans.filter { $0.kind == .suspension && $0.queue == queue }.sorted { $0.start < $1.start }
        for span in own {
            if let last = spans.last, span.start <= last.end {
                spans[spans.count - 1].end = max(last.end, span.end)
            } else {
                spans.append((span.start, span.end))
            }
        }
    }

    func holds(at time: TraceTime) -> Bool {
        guard let place = place(time) else { return false }
        return time < spans[place].end
    }

    private func place(_ time: TraceTime) -> Int? {
        let next = spans.partition { $0.start > time }
        return next == 0 ? nil : next - 1
    }
}

/// The trace of one profiled sample, between its marks.
///
/// 72 bytes per operation and 8 per dependency: a million operations with one dependency each take 80 MB. A value type;
/// the recorder collects a part on each thread and combines them after the sample.
public struct SampleTrace: Equatable, Sendable, Codable {
    /// A thread with its own track.
    public struct Thread: Equatable, Sendable, Codable {
        public enum Role: UInt8, CaseIterable, Sendable, Codable {
            case worker, submitter, other
        }

        /// A readable name: `engine normal 1`, `submitter 2`.
        public var name: String
        public var role: Role
        /// The system's thread id; unique in the trace.
        public var id: Int32

        public init(name: String, role: Role, id: Int32) {
            self.name = name
            self.role = role
            self.id = id
        }
    }

    public struct Queue: Equatable, Sendable, Codable {
        public var name: String
        /// The maximum number of operations that may run at once; nil if only the workers limit it.
        public var limit: Int?

        public init(name: String, limit: Int? = nil) {
            self.name = name
            self.limit = limit
        }
    }

    /// The title: cell and backend.
    public var title = ""
    public var processID: Int32 = 1
    /// The maximum number of workers that may run at once while no body blocks: the pool's width.
    public var workerCount: Int
    /// The time of the stop mark.
    public var stop: TraceTime = 0
    public var threads: [Thread] = []
    public var queues: [Queue] = []
    /// The names of the operations' classes.
    public var classes: [String] = []

    public var operations: [TracedOperation] = []
    /// In any order.
    public var threadEvents: [TracedThreadEvent] = []
    /// In any order.
    public var spans: [TracedSpan] = []
    /// Threads' waits for a processor between operations, in any order; nil if they are not known.
    public var waits: [TracedWait]? = []
    /// In any order; without those of barriers, see `OperationGraph`.
    public var dependencies: [TracedDependency] = []

    /// Everything but the records, which `TraceFile` keeps beside it.
    private enum CodingKeys: String, CodingKey {
        case title, processID, workerCount, stop, threads, queues, classes
    }

    public init(workerCount: Int) { self.workerCount = workerCount }

    /// The maximum number of operations; it also keeps a hostile file from exhausting memory.
    public static let mostOperations = 1 << 26

    /// The time from the first submission to the last end, in nanoseconds; 0 if nothing ran.
    public var elapsed: Int64 {
        guard let range = executedRange else { return 0 }
        return range.upperBound - range.lowerBound
    }

    /// The range from the first submission to the last end; nil if nothing ran.
    public var executedRange: Range<TraceTime>? {
        var (first, last) = (TraceTime.absent, TraceTime.min)
        for operation in operations where operation.wasExecuted {
            first = min(first, operation.submit)
            last = max(last, operation.end)
        }
        return first <= last ? first..<last : nil
    }

    /// The most workers that there were at once, in bodies: more than `workerCount` if bodies blocked and the pool grew.
    ///
    /// Sorts all starts and ends.
    public var mostWorkers: Int {
        let executed = operations.filter(\.wasExecuted)
        let running = TraceCounter("running", up: executed.map(\.start), down: executed.map(\.end))
        return max(workerCount, Int(running.maximum))
    }

    /// The part of the bodies' elapsed time in the run queue, as far as it is known; 0 if nothing ran.
    public var processorWaitShare: Double {
        let (wait, elapsed) = operations.reduce(into: (0.0, 0.0)) { sums, operation in
            sums.0 += Double(operation.knownProcessorWait)
            sums.1 += Double(operation.elapsed)
        }
        return elapsed > 0 ? wait / elapsed : 0
    }

    /// Whether this round was disturbed less than another one of the same plan: its bodies waited for a processor for a
    /// smaller part of their time, in whole percent, or for an equal part with a shorter total time.
    public func isLessDisturbed(than other: SampleTrace) -> Bool {
        func percent(_ trace: SampleTrace) -> Double { (100 * trace.processorWaitShare).rounded() }
        return (percent(self), elapsed) < (percent(other), other.elapsed)
    }

    /// The name of an operation's slices and messages: its class.
    public func className(of operation: TracedOperation) -> String {
        let index = Int(operation.operationClass)
        return index < classes.count ? classes[index] : "operation"
    }
}

// MARK: - Checks

extension SampleTrace {
    /// The limit of times on either side of the start mark: a hundred days.
    package static let latest: TraceTime = 1 << 53

    /// The limit of the sum of all operations' times, so that no sum over them overflows: 36 years.
    private static let longestTotal: Int64 = .max / 8

    /// Checks that every reference is valid and every operation's times are in order. The analyses and writers rely on
    /// it; data from another process is checked when it is read.
    ///
    /// - Throws: `RecordError`, which names the first faulty record.
    public func check() throws(RecordError) {
        guard operations.count <= Self.mostOperations else {
            throw RecordError("\(operations.count) operations exceed a trace's limit of \(Self.mostOperations)")
        }
        guard workerCount > 0, workerCount <= 1 << 16 else { throw RecordError("\(workerCount) workers") }
        // The greatest number represents an unknown thread or queue.
        guard threads.count < 1 << 16, queues.count < 1 << 16, classes.count <= 1 << 8 else {
            throw RecordError("too many threads, queues or classes")
        }
        guard Set(threads.map(\.id)).count == threads.count else { throw RecordError("two threads have the same id") }
        if queues.contains(where: { $0.limit.map { $0 <= 0 } ?? false }) {
            throw RecordError("a queue's limit is below 1")
        }
        let times = -Self.latest...Self.latest
        var total: Int64 = 0
        guard times.contains(stop) else { throw RecordError("the stop mark is out of range") }
        for (index, operation) in operations.enumerated() {
            if let fault = fault(of: operation, times) { throw RecordError("operation \(index): \(fault)") }
            total += longestTime(of: operation)
            guard total <= Self.longestTotal else { throw RecordError("all operations together take too long") }
        }
        for (index, event) in threadEvents.enumerated() {
            if let fault = fault(of: event, times) { throw RecordError("thread event \(index): \(fault)") }
        }
        for (index, span) in spans.enumerated() {
            if let fault = fault(of: span, times) { throw RecordError("span \(index): \(fault)") }
        }
        for (index, wait) in (waits ?? []).enumerated() {
            guard times.contains(wait.start), times.contains(wait.end), wait.start <= wait.end else {
                throw RecordError("wait \(index): times out of range or in the wrong order")
            }
            guard wait.thread < threads.count else { throw RecordError("wait \(index): no such thread") }
        }
        for (index, dependency) in dependencies.enumerated() {
            let isKnown = dependency.predecessor < operations.count && dependency.successor < operations.count
            guard isKnown, dependency.predecessor != dependency.successor else {
                throw RecordError("dependency \(index): leads from or to no operation, or to itself")
            }
        }
    }

    /// Puts the times of each operation in order, by raising those that precede their predecessor: submission, start
    /// and end are read on different threads, and the clocks of two processors may differ slightly. For recorders of
    /// traces.
    public mutating func mendOrder() {
        func raise(_ time: inout TraceTime, to least: inout TraceTime) {
            time = max(time, least)
            if time != .absent { least = time }
        }
        for index in operations.indices where operations[index].submit != .absent {
            var least = operations[index].submit
            raise(&operations[index].ready, to: &least)
            raise(&operations[index].start, to: &least)
            raise(&operations[index].end, to: &least)
            raise(&operations[index].notified, to: &least)
            let away = min(operations[index].offProcessor, operations[index].elapsed)
            operations[index].offProcessor = away
            if operations[index].processorWait != .absent {
                operations[index].processorWait = min(operations[index].processorWait, away)
            }
        }
    }

    /// The time from its submission to the last that happened to it, or the sample's end; or the planned one.
    private func longestTime(of operation: TracedOperation) -> Int64 {
        let latest = [operation.ready, operation.start, operation.end, operation.notified, stop]
            .filter { $0 != .absent }.max()!
        return max(latest - operation.submit, operation.planned == .absent ? 0 : operation.planned)
    }

    private func isThread(_ thread: UInt16) -> Bool { thread == TracedOperation.unknown || thread < threads.count }

    private func fault(of operation: TracedOperation, _ times: ClosedRange<TraceTime>) -> String? {
        guard isThread(operation.worker), isThread(operation.submitter) else { return "no such thread" }
        guard operation.queue < queues.count else { return "no such queue" }
        guard times.contains(operation.submit) else { return "not submitted" }
        // Times of events that happened must be in this order; `mendOrder` is for recorders.
        var latest = operation.submit
        for (time, name) in [
            (operation.ready, "ready"), (operation.start, "started"), (operation.end, "ended"),
            (operation.notified, "notified"),
        ] where time != .absent {
            guard times.contains(time) else { return "\(name) at a time out of range" }
            if time < latest { return "\(name) before what comes before it" }
            latest = time
        }
        if operation.wasExecuted, operation.ready == .absent { return "executed, but never ready" }
        guard (0...operation.elapsed).contains(operation.offProcessor),
            (0...operation.offProcessor).contains(operation.knownProcessorWait)
        else { return "had no processor for longer than it took" }
        guard operation.planned == .absent || (0...times.upperBound).contains(operation.planned) else {
            return "planned to take a time out of range"
        }
        return nil
    }

    private func fault(of event: TracedThreadEvent, _ times: ClosedRange<TraceTime>) -> String? {
        guard let kind = event.kind else { return "unknown kind \(event.rawKind)" }
        guard times.contains(event.time) else { return "time out of range" }
        guard event.thread < threads.count else { return "no such thread" }
        switch kind {
        case .leaseTaken, .leaseGivenUp: return event.other < queues.count ? nil : "no such queue"
        case .wake: return event.other < threads.count ? nil : "no such thread"
        case .unpark: return isThread(event.other) ? nil : "no such thread"
        case .begin, .end, .park, .growth, .shrinkage: return nil
        }
    }

    private func fault(of span: TracedSpan, _ times: ClosedRange<TraceTime>) -> String? {
        guard let kind = span.kind else { return "unknown kind \(span.rawKind)" }
        guard times.contains(span.start), span.end == .absent || times.contains(span.end) else {
            return "time out of range"
        }
        guard span.end >= span.start else { return "ends before it starts" }
        guard span.queue < queues.count else { return "no such queue" }
        switch kind {
        case .suspension: return nil
        case .barrier:
            guard span.operation < operations.count else { return "no such operation" }
            return operations[Int(span.operation)].queue == span.queue ? nil : "its operation is in another queue"
        }
    }
}

import OpBenchModel

/// Writes a trace as JSON in Chrome's Trace Event Format, for ui.perfetto.dev, speedscope and other readers: a
/// complete event (`X`) for each slice, instants, counters, and a pair of flow events for each dependency.
///
/// The slices of a row nest, as the format requires. JSON is large, about 400 bytes per operation, and readers load all
/// of it into memory. So the file has at most `limit` events, which are the first ones, and `Result.message` reports
/// the cut. A counter has at most a twentieth of them.
public struct ChromeWriter {
    /// About 100 MB, which browsers can still open.
    public static let standardLimit = 500_000

    public struct Result: Equatable, Sendable {
        /// The number of events, without names of rows (`M`).
        public var events = 0
        /// The number of events without a limit.
        public var allEvents = 0
        /// Only events that begin before this time are written; nil for all.
        public var cutAt: TraceTime?

        /// A one-line message; nil if the file is complete.
        public var message: String? {
            guard let cutAt else { return nil }
            return "trace.json contains the first \(events) of \(counted(allEvents, "event")), those before "
                + "\(Quantities.time(cutAt)), because viewers load all of it into memory"
        }
    }

    private let trace: SampleTrace
    private let sink: any ByteSink
    private var buffer: [UInt8] = []
    private var isFirst = true
    private var result = Result()
    private let process: String

    /// - Parameter trace: a trace that passes `SampleTrace.check()`.
    /// - Throws: errors of the sink.
    @discardableResult
    public static func write(
        _ trace: SampleTrace, to sink: any ByteSink, limit: Int = standardLimit
    ) throws -> Result {
        var writer = ChromeWriter(trace, sink)
        try writer.write(limit)
        return writer.result
    }

    private init(_ trace: SampleTrace, _ sink: any ByteSink) {
        self.trace = trace
        self.sink = sink
        process = String(trace.processID)
    }

    private mutating func write(_ limit: Int) throws {
        let lanes = TimelineLanes(trace)
        let counters = trace.counters().map { $0.thinned(to: max(1, limit / 20)) }
        let instants = trace.instants(lanes)
        let flows = trace.dependencies.indices.filter { isDrawn(trace.dependencies[$0]) }
        try cut(lanes, instants, flows, counters, limit)
        let end = result.cutAt ?? .max

        buffer += Array("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [".utf8)
        let rows = Self.rows(lanes, trace.threads)
        try writeNames(lanes, rows)
        var rowOfOperation: [Int: String] = [:]
        for (lane, row) in zip(lanes.lanes, rows) {
            for slice in lane.slices where slice.start < end { try write(slice, row: row) }
            guard !flows.isEmpty else { continue }
            for slice in lane.slices where slice.kind == .operation { rowOfOperation[Int(slice.index)] = row }
        }
        for (thread, points) in instants.enumerated() {
            let row = String(trace.threads[thread].id)
            for point in points where point.time < end { try write(point, row: row) }
        }
        for flow in flows { try writeFlow(flow, rowOfOperation, before: end) }
        for counter in counters {
            for point in counter.points where point.time < end { try write(point, of: counter.name) }
        }
        buffer += Array("\n]}\n".utf8)
        try flush()
    }

    private func isDrawn(_ dependency: TracedDependency) -> Bool {
        trace.operations[Int(dependency.predecessor)].wasExecuted
            && trace.operations[Int(dependency.successor)].wasExecuted
    }

    /// Finds the time before which at most `limit` events begin.
    private mutating func cut(
        _ lanes: TimelineLanes, _ instants: [[TimelineInstant]], _ flows: [Int], _ counters: [TraceCounter],
        _ limit: Int
    ) throws {
        var times: [TraceTime] = []
        for lane in lanes.lanes { times += lane.slices.map(\.start) }
        for points in instants { times += points.map(\.time) }
        for flow in flows {
            // Counts both halves of an arrow.
            let start = trace.operations[Int(trace.dependencies[flow].successor)].start
            times += [start, start]
        }
        for counter in counters { times += counter.points.map(\.time) }
        result.allEvents = times.count
        guard times.count > limit else { return }
        times.sort()
        result.cutAt = times[max(0, limit)]
    }

    // MARK: Events

    private mutating func append(_ event: String) throws {
        buffer += Array((isFirst ? "\n" : ",\n").utf8)
        buffer += Array(event.utf8)
        isFirst = false
        if buffer.count >= 1 << 20 { try flush() }
    }

    private mutating func flush() throws {
        try sink.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// A time in microseconds, as the format requires, with all three decimals, so that no reader's rounding moves the
    /// end of a slice beyond its parent's.
    static func microseconds(_ time: Int64) -> String {
        let magnitude = time.magnitude
        let thousandths = String(magnitude % 1000)
        return (time < 0 ? "-" : "") + String(magnitude / 1000) + "."
            + String(repeating: "0", count: 3 - thousandths.count) + thousandths
    }

    /// The rows' `tid`s: a thread's own id, and higher numbers for other rows.
    private static func rows(_ lanes: TimelineLanes, _ threads: [SampleTrace.Thread]) -> [String] {
        let highest = Int64(threads.reduce(0) { max($0, $1.id) })
        return lanes.lanes.enumerated().map { index, lane in
            if case .thread(let thread) = lane.owner, lane.number == 0 { return String(threads[thread].id) }
            return String(highest + 1 + Int64(index))
        }
    }

    private mutating func writeNames(_ lanes: TimelineLanes, _ rows: [String]) throws {
        let title = JSONText.quoted(trace.title)
        try append(
            "{\"ph\":\"M\",\"pid\":\(process),\"name\":\"process_name\",\"args\":{\"name\":\(title)}}")
        for (index, lane) in lanes.lanes.enumerated() {
            let (row, name) = (rows[index], JSONText.quoted(lane.name(in: trace)))
            try append(
                "{\"ph\":\"M\",\"pid\":\(process),\"tid\":\(row),\"name\":\"thread_name\",\"args\":{\"name\":\(name)}}")
            try append(
                "{\"ph\":\"M\",\"pid\":\(process),\"tid\":\(row),\"name\":\"thread_sort_index\","
                    + "\"args\":{\"sort_index\":\(index)}}")
        }
    }

    private mutating func write(_ slice: TimelineSlice, row: String) throws {
        var (name, category, details) = ("parked", "thread", "")
        switch slice.kind {
        case .park: break
        case .span:
            category = "queue"
            name = trace.spans[Int(slice.index)].kind == .suspension ? "suspended" : "barrier"
        case .operation:
            let operation = trace.operations[Int(slice.index)]
            (name, category) = (trace.className(of: operation), "operation")
            details =
                ",\"args\":{\"operation\":\(slice.index),\"queue\":"
                + JSONText.quoted(trace.queues[Int(operation.queue)].name)
                + ",\"priority\":\(operation.priority),\"submitted to ready (ns)\":\(operation.ready - operation.submit)"
                + ",\"ready to start (ns)\":\(operation.start - operation.ready)"
            for wait in NamedTime.parts(of: operation.bodyWaits) { details += ",\"\(wait.name) (ns)\":\(wait.time)" }
            if operation.notified != .absent {
                details += ",\"end to notified (ns)\":\(operation.notified - operation.end)"
            }
            details += "}"
        }
        result.events += 1
        try append(
            "{\"ph\":\"X\",\"pid\":\(process),\"tid\":\(row),\"ts\":\(Self.microseconds(slice.start)),"
                + "\"dur\":\(Self.microseconds(slice.end - slice.start)),\"cat\":\"\(category)\","
                + "\"name\":\(JSONText.quoted(name))\(details)}")
    }

    private mutating func write(_ instant: TimelineInstant, row: String) throws {
        var (name, category, details) = ("submit", "operation", "")
        switch instant.content {
        case .submit(let index): details = "\"operation\":\(index)"
        case .crowded(let index):
            name = trace.className(of: trace.operations[Int(index)])
            details = "\"operation\":\(index)"
        case .event(let kind, let other):
            (name, category) = (kind.words, "thread")
            switch kind {
            case .wake: details = "\"other\":" + JSONText.quoted(trace.threads[Int(other)].name)
            case .leaseTaken, .leaseGivenUp: details = "\"queue\":" + JSONText.quoted(trace.queues[Int(other)].name)
            default: break
            }
        }
        result.events += 1
        try append(
            "{\"ph\":\"i\",\"s\":\"t\",\"pid\":\(process),\"tid\":\(row),\"ts\":\(Self.microseconds(instant.time)),"
                + "\"cat\":\"\(category)\",\"name\":\(JSONText.quoted(name)),\"args\":{\(details)}}")
    }

    /// An arrow from the predecessor's bar to the beginning of the successor's. Chrome draws only arrows that do not go
    /// back in time.
    private mutating func writeFlow(_ index: Int, _ rows: [Int: String], before end: TraceTime) throws {
        let dependency = trace.dependencies[index]
        let (from, to) = (Int(dependency.predecessor), Int(dependency.successor))
        let (predecessor, successor) = (trace.operations[from], trace.operations[to])
        guard successor.start < end else { return }
        for (phase, time, row) in [
            ("\"s\"", min(predecessor.end, successor.start), rows[from]),
            ("\"f\",\"bp\":\"e\"", successor.start, rows[to]),
        ] {
            result.events += 1
            try append(
                "{\"ph\":\(phase),\"id\":\(index + 1),\"pid\":\(process),\"tid\":\(row ?? "0"),"
                    + "\"ts\":\(Self.microseconds(time)),\"cat\":\"dependency\",\"name\":\"dependency\"}")
        }
    }

    private mutating func write(_ point: TraceCounter.Point, of name: String) throws {
        result.events += 1
        try append(
            "{\"ph\":\"C\",\"pid\":\(process),\"ts\":\(Self.microseconds(point.time)),\"name\":\(JSONText.quoted(name)),"
                + "\"args\":{\"value\":\(point.value)}}")
    }
}

import OpBenchModel

/// A bar of the timeline. 24 bytes.
struct TimelineSlice: Equatable {
    enum Kind: UInt8 { case operation, park, span }

    var start: TraceTime
    var end: TraceTime
    /// The index of the operation or span in the trace; unused for a park.
    var index: UInt32
    var kind: Kind
}

/// A row of the timeline. Its slices nest: of any two, either one contains the other, or they do not overlap. The
/// format requires that.
struct TimelineLane {
    enum Owner: Hashable {
        case thread(Int)
        case queue(Int)
        /// Operations of unknown threads.
        case nobody
    }

    var owner: Owner
    /// 0 for the owner's own row, and consecutive numbers for overlapping slices: operations that end on another thread
    /// than they start on, and spans of one queue.
    var number: Int
    /// Slices in order of their starts; of those that start together, the containing one is first.
    var slices: [TimelineSlice]
}

struct TimelineLanes {
    /// The maximum number of rows per owner; slices that overlap with more become points.
    static let mostRows = 32

    private(set) var lanes: [TimelineLane] = []
    /// The slices that did not fit.
    private(set) var crowded: [TimelineSlice] = []

    init(_ trace: SampleTrace) {
        var slices: [TimelineLane.Owner: [TimelineSlice]] = [:]
        for (index, operation) in trace.operations.enumerated() where operation.wasExecuted {
            let owner: TimelineLane.Owner =
                operation.worker == TracedOperation.unknown ? .nobody : .thread(Int(operation.worker))
            slices[owner, default: []].append(
                TimelineSlice(
                    start: operation.start, end: operation.end, index: UInt32(index), kind: .operation))
        }
        let last = max(trace.stop, trace.operations.isEmpty ? trace.stop : trace.lastTime)
        for (thread, park) in Self.parks(trace, until: last) { slices[.thread(thread), default: []].append(park) }
        for (index, span) in trace.spans.enumerated() {
            let slice = TimelineSlice(
                start: span.start, end: span.end == .absent ? max(last, span.start) : span.end, index: UInt32(index),
                kind: .span)
            slices[.queue(Int(span.queue)), default: []].append(slice)
        }
        // Even threads without operations have rows, for instants.
        for thread in trace.threads.indices { place(slices[.thread(thread)] ?? [], of: .thread(thread)) }
        if let rest = slices[.nobody] { place(rest, of: .nobody) }
        for queue in trace.queues.indices {
            if let spans = slices[.queue(queue)] { place(spans, of: .queue(queue)) }
        }
    }

    private static func parks(_ trace: SampleTrace, until last: TraceTime) -> [(Int, TimelineSlice)] {
        var parked = [TraceTime?](repeating: nil, count: trace.threads.count)
        var parks: [(Int, TimelineSlice)] = []
        func close(_ thread: Int, _ time: TraceTime) {
            guard let start = parked[thread] else { return }
            parked[thread] = nil
            parks.append((thread, TimelineSlice(start: start, end: max(start, time), index: 0, kind: .park)))
        }
        for event in trace.threadEvents.sorted(by: { $0.time < $1.time }) {
            switch event.kind {
            case .park: parked[Int(event.thread)] = parked[Int(event.thread)] ?? event.time
            case .unpark, .end: close(Int(event.thread), event.time)
            default: continue
            }
        }
        for thread in parked.indices { close(thread, last) }
        return parks
    }

    /// Puts every slice into the owner's first row where it nests.
    private mutating func place(_ slices: [TimelineSlice], of owner: TimelineLane.Owner) {
        let sorted = slices.sorted { ($0.start, $1.end, $0.index) < ($1.start, $0.end, $1.index) }
        var rows = [TimelineLane(owner: owner, number: 0, slices: [])]
        // The ends of the open slices in each row, the innermost last.
        var open: [[TraceTime]] = [[]]
        for slice in sorted {
            var row = 0
            while row < rows.count {
                while let end = open[row].last, end <= slice.start { open[row].removeLast() }
                if open[row].last.map({ $0 >= slice.end }) ?? true { break }
                row += 1
            }
            if row == Self.mostRows {
                crowded.append(slice)
                continue
            }
            if row == rows.count {
                rows.append(TimelineLane(owner: owner, number: row, slices: []))
                open.append([])
            }
            open[row].append(slice.end)
            rows[row].slices.append(slice)
        }
        lanes += rows
    }
}

extension TimelineLane {
    func name(in trace: SampleTrace) -> String {
        let name =
            switch owner {
            case .thread(let thread): trace.threads[thread].name
            case .queue(let queue): trace.queues[queue].name
            case .nobody: "no thread"
            }
        return number == 0 ? name : "\(name), row \(number + 1)"
    }
}

/// A point of the timeline. 24 bytes.
struct TimelineInstant {
    enum Content {
        /// The submission of an operation, with its index in the trace.
        case submit(UInt32)
        /// An operation that did not fit.
        case crowded(UInt32)
        case event(TracedThreadEvent.Kind, other: UInt16)
    }

    var time: TraceTime
    var content: Content
}

extension SampleTrace {
    /// The points in each thread's row, in chronological order.
    func instants(_ lanes: TimelineLanes) -> [[TimelineInstant]] {
        var instants = [[TimelineInstant]](repeating: [], count: threads.count)
        for (index, operation) in operations.enumerated() where operation.submitter != TracedOperation.unknown {
            instants[Int(operation.submitter)].append(
                TimelineInstant(time: operation.submit, content: .submit(UInt32(index))))
        }
        for slice in lanes.crowded where slice.kind == .operation {
            let worker = operations[Int(slice.index)].worker
            if worker == TracedOperation.unknown { continue }
            instants[Int(worker)].append(TimelineInstant(time: slice.start, content: .crowded(slice.index)))
        }
        for event in threadEvents {
            switch event.kind {
            // These become slices.
            case .park, .unpark, nil: continue
            case .some(let kind):
                instants[Int(event.thread)].append(
                    TimelineInstant(time: event.time, content: .event(kind, other: event.other)))
            }
        }
        return instants.map { $0.sorted { $0.time < $1.time } }
    }
}

extension ThreadStep {
    /// The name on the timeline.
    var words: String {
        switch self {
        case .begin: "thread begins"
        case .end: "thread ends"
        case .park: "park"
        case .unpark: "unpark"
        case .wake: "wake"
        case .leaseTaken: "lease taken"
        case .leaseGivenUp: "lease given up"
        case .growth: "growth"
        case .shrinkage: "shrinkage"
        }
    }
}

/// Writes a trace in Perfetto's protobuf format for https://ui.perfetto.dev: a track for each thread, queue and
/// counter, dependencies as arrows, and each operation with the reasons for its waits.
///
/// The packets of a track are in chronological order; tracks follow one another, which the format allows. All packets
/// belong to one sequence, and its first packet has all names. About 150 bytes per operation.
public struct PerfettoWriter {
    /// The numbers of written records, for checks.
    public struct Counts: Equatable, Sendable {
        public var packets = 0
        public var tracks = 0
        public var slices = 0
        public var instants = 0
        public var counterValues = 0
        public var flows = 0
        /// The number of spans, and of operations of unknown threads, that were left out because too many others
        /// overlap.
        public var leftOut = 0
    }

    /// The maximum number of points of a counter; beyond it, counters are thinned.
    public static let mostCounterPoints = 50_000

    private typealias Schema = PerfettoSchema

    private enum Category: UInt64, CaseIterable {
        case operation = 1
        case thread, queue, mark
    }

    /// The annotations of an operation. Times are in nanoseconds.
    private enum Annotation: UInt64, CaseIterable {
        case number = 1
        case queue, priority, dependencies, waited, processor, blocked, blockedOrProcessor, notification, other

        var name: String {
            switch self {
            case .number: "operation"
            case .queue: "queue"
            case .priority: "priority"
            case .dependencies: "submitted to ready (ns)"
            case .waited: "ready to start (ns)"
            case .processor: "\(WaitReason.processor.words) (ns)"
            case .blocked: "\(WaitReason.blocked.words) (ns)"
            case .blockedOrProcessor: "\(WaitReason.blockedOrProcessor.words) (ns)"
            case .notification: "end to notified (ns)"
            case .other: "other"
            }
        }
    }

    private let trace: SampleTrace
    private let sink: any ByteSink
    private var buffer = ProtobufMessage()
    private var counts = Counts()
    private var names = InternedNames()
    private var texts = InternedNames()
    /// The offset added to each time, because timestamps are unsigned.
    private let shift: TraceTime
    private static let sequence: UInt64 = 1
    private static let processTrack: UInt64 = 1

    private init(_ trace: SampleTrace, _ sink: any ByteSink) {
        self.trace = trace
        self.sink = sink
        shift = -min(
            0, trace.operations.reduce(0) { min($0, $1.submit) }, trace.threadEvents.reduce(0) { min($0, $1.time) },
            trace.spans.reduce(0) { min($0, $1.start) })
    }

    /// - Parameter trace: a trace that passes `SampleTrace.check()`.
    /// - Throws: errors of the sink.
    @discardableResult
    public static func write(_ trace: SampleTrace, to sink: any ByteSink) throws -> Counts {
        var writer = PerfettoWriter(trace, sink)
        try writer.write()
        return writer.counts
    }

    private mutating func write() throws {
        let lanes = TimelineLanes(trace)
        let counters = trace.counters().map { $0.thinned(to: Self.mostCounterPoints) }
        // Interns all possible names before the first packet that needs them.
        let classNames = (0...255).map {
            names.id("\(trace.classes.indices.contains($0) ? trace.classes[$0] : "operation")")
        }
        let queueTexts = trace.queues.map { texts.id($0.name) }
        let threadTexts = trace.threads.map { texts.id($0.name) }
        let words = Words(&names)
        try begin(lanes, counters)
        try writeMarks(words)
        let instants = trace.instants(lanes)
        counts.leftOut = lanes.crowded.count { !trace.isInstant($0) }
        let flows = DependencyFlows(trace)
        for (index, lane) in lanes.lanes.enumerated() {
            let points =
                if case .thread(let thread) = lane.owner, lane.number == 0 { instants[thread] } else {
                    [TimelineInstant]()
                }
            try write(
                lane, points, track: Self.processTrack + 1 + UInt64(index),
                LaneWords(words: words, classes: classNames, queues: queueTexts, threads: threadTexts), flows)
        }
        for (index, counter) in counters.enumerated() {
            try write(counter, track: Self.processTrack + 1 + UInt64(lanes.lanes.count + index))
        }
        try flush()
    }

    // MARK: Packets

    /// Fixed names.
    private struct Words {
        let parked, suspended, barrier, submit, start, stop: UInt64
        let events: [TracedThreadEvent.Kind: UInt64]

        init(_ names: inout InternedNames) {
            parked = names.id("parked")
            suspended = names.id("suspended")
            barrier = names.id("barrier")
            submit = names.id("submit")
            start = names.id("clock starts")
            stop = names.id("clock stops")
            events = TracedThreadEvent.Kind.allCases.reduce(into: [:]) { $0[$1] = names.id($1.words) }
        }
    }

    private struct LaneWords {
        let words: Words
        let classes: [UInt64]
        let queues: [UInt64]
        let threads: [UInt64]
    }

    private mutating func packet(_ body: (inout ProtobufMessage) -> Void) throws {
        buffer.message(Schema.Trace.packet) { packet in
            packet.number(Schema.TracePacket.sequence, Self.sequence)
            body(&packet)
        }
        counts.packets += 1
        if buffer.count >= 1 << 20 { try flush() }
    }

    private mutating func flush() throws {
        try sink.write(buffer.bytes)
        buffer.removeAll()
    }

    private mutating func event(
        _ time: TraceTime, _ type: UInt64, track: UInt64, _ body: (inout ProtobufMessage) -> Void
    ) throws {
        let shifted = UInt64(time + shift)
        try packet { packet in
            packet.number(Schema.TracePacket.timestamp, shifted)
            packet.number(Schema.TracePacket.sequenceFlags, Schema.SequenceFlags.needsIncrementalState)
            packet.message(Schema.TracePacket.trackEvent) { event in
                event.number(Schema.TrackEvent.type, type)
                event.number(Schema.TrackEvent.track, track)
                body(&event)
            }
        }
    }

    /// Writes clock, names and tracks.
    private mutating func begin(_ lanes: TimelineLanes, _ counters: [TraceCounter]) throws {
        let (names, texts, shift) = (names, texts, UInt64(shift))
        try packet { packet in
            packet.number(Schema.TracePacket.firstOnSequence, 1)
            packet.number(Schema.TracePacket.timestamp, shift)
            packet.message(Schema.TracePacket.clockSnapshot) { snapshot in
                snapshot.number(Schema.ClockSnapshot.primaryClock, Schema.ClockSnapshot.bootTime)
                snapshot.message(Schema.ClockSnapshot.clocks) { clock in
                    clock.number(Schema.ClockSnapshot.Clock.id, Schema.ClockSnapshot.bootTime)
                    clock.number(Schema.ClockSnapshot.Clock.timestamp, shift)
                }
            }
        }
        try packet { packet in
            packet.number(Schema.TracePacket.sequenceFlags, Schema.SequenceFlags.incrementalStateCleared)
            packet.message(Schema.TracePacket.defaults) {
                $0.number(Schema.PacketDefaults.clock, Schema.ClockSnapshot.bootTime)
            }
            packet.message(Schema.TracePacket.internedData) { data in
                names.write(Schema.InternedData.names, to: &data)
                texts.write(Schema.InternedData.texts, to: &data)
                for category in Category.allCases {
                    InternedNames.write(Schema.InternedData.categories, category.rawValue, "\(category)", to: &data)
                }
                for annotation in Annotation.allCases {
                    InternedNames.write(
                        Schema.InternedData.annotationNames, annotation.rawValue, annotation.name, to: &data)
                }
            }
        }
        try writeTracks(lanes, counters)
    }

    private mutating func writeTracks(_ lanes: TimelineLanes, _ counters: [TraceCounter]) throws {
        let (processID, title) = (Int64(trace.processID), trace.title)
        try track(Self.processTrack, isChild: false) { track in
            track.message(Schema.TrackDescriptor.process) { process in
                process.signed(Schema.Process.id, processID)
                process.text(Schema.Process.name, title)
            }
        }
        var id = Self.processTrack
        for lane in lanes.lanes {
            id += 1
            let name = lane.name(in: trace)
            let thread: Int64? =
                if case .thread(let thread) = lane.owner, lane.number == 0 { Int64(trace.threads[thread].id) } else {
                    nil
                }
            try track(id, isChild: true) { track in
                guard let thread else { return track.text(Schema.TrackDescriptor.name, name) }
                track.message(Schema.TrackDescriptor.thread) { descriptor in
                    descriptor.signed(Schema.Thread.process, processID)
                    descriptor.signed(Schema.Thread.id, thread)
                    descriptor.text(Schema.Thread.name, name)
                }
            }
        }
        for counter in counters {
            id += 1
            try track(id, isChild: true) { track in
                track.text(Schema.TrackDescriptor.name, counter.name)
                track.message(Schema.TrackDescriptor.counter) { $0.number(Schema.Counter.unit, Schema.Counter.count) }
            }
        }
    }

    private mutating func track(_ id: UInt64, isChild: Bool, _ body: (inout ProtobufMessage) -> Void) throws {
        counts.tracks += 1
        try packet { packet in
            packet.message(Schema.TracePacket.trackDescriptor) { track in
                track.number(Schema.TrackDescriptor.uuid, id)
                if isChild { track.number(Schema.TrackDescriptor.parent, Self.processTrack) }
                body(&track)
            }
        }
    }

    private mutating func writeMarks(_ words: Words) throws {
        for (time, name) in [(0, words.start), (trace.stop, words.stop)] where time + shift >= 0 {
            counts.instants += 1
            try event(time, Schema.TrackEvent.instant, track: Self.processTrack) { event in
                event.number(Schema.TrackEvent.categories, Category.mark.rawValue)
                event.number(Schema.TrackEvent.name, name)
            }
        }
    }

    // MARK: Rows

    /// Writes the row's edges and points, merged by time.
    private mutating func write(
        _ lane: TimelineLane, _ instants: [TimelineInstant], track: UInt64, _ words: LaneWords, _ flows: DependencyFlows
    ) throws {
        var next = 0
        try lane.forEachEdge { edge, slice in
            let time = edge == .begin ? slice.start : slice.end
            while next < instants.count, instants[next].time <= time {
                try write(instants[next], track: track, words)
                next += 1
            }
            switch edge {
            case .begin: try begin(slice, track: track, words, flows)
            case .end: try event(slice.end, Schema.TrackEvent.end, track: track) { _ in }
            }
        }
        while next < instants.count {
            try write(instants[next], track: track, words)
            next += 1
        }
    }

    private mutating func begin(
        _ slice: TimelineSlice, track: UInt64, _ words: LaneWords, _ flows: DependencyFlows
    ) throws {
        counts.slices += 1
        switch slice.kind {
        case .operation:
            let (index, operation) = (Int(slice.index), trace.operations[Int(slice.index)])
            counts.flows += flows.starting(index).count
            try event(slice.start, Schema.TrackEvent.begin, track: track) { event in
                event.number(Schema.TrackEvent.categories, Category.operation.rawValue)
                event.number(Schema.TrackEvent.name, words.classes[Int(operation.operationClass)])
                for flow in flows.starting(index) { event.fixed64(Schema.TrackEvent.flows, UInt64(flow) + 1) }
                for flow in flows.ending(index) { event.fixed64(Schema.TrackEvent.endingFlows, UInt64(flow) + 1) }
                Self.annotate(operation, index, words, &event)
            }
        case .park:
            try event(slice.start, Schema.TrackEvent.begin, track: track) { event in
                event.number(Schema.TrackEvent.categories, Category.thread.rawValue)
                event.number(Schema.TrackEvent.name, words.words.parked)
            }
        case .span:
            let span = trace.spans[Int(slice.index)]
            let name = span.kind == .suspension ? words.words.suspended : words.words.barrier
            try event(slice.start, Schema.TrackEvent.begin, track: track) { event in
                event.number(Schema.TrackEvent.categories, Category.queue.rawValue)
                event.number(Schema.TrackEvent.name, name)
            }
        }
    }

    private static func annotate(
        _ operation: TracedOperation, _ index: Int, _ words: LaneWords, _ event: inout ProtobufMessage
    ) {
        func annotate(_ name: Annotation, _ field: UInt64, _ value: UInt64) {
            event.message(Schema.TrackEvent.annotations) { annotation in
                annotation.number(Schema.Annotation.name, name.rawValue)
                annotation.number(field, value)
            }
        }
        annotate(.number, Schema.Annotation.number, UInt64(index))
        annotate(.queue, Schema.Annotation.text, words.queues[Int(operation.queue)])
        if operation.priority != 0 {
            annotate(.priority, Schema.Annotation.signed, UInt64(bitPattern: Int64(operation.priority)))
        }
        annotate(.dependencies, Schema.Annotation.number, UInt64(operation.ready - operation.submit))
        annotate(.waited, Schema.Annotation.number, UInt64(operation.start - operation.ready))
        let waits: [(Annotation, WaitReason)] = [
            (.processor, .processor), (.blocked, .blocked), (.blockedOrProcessor, .blockedOrProcessor),
        ]
        for (name, reason) in waits where operation.bodyWaits[reason] > 0 {
            annotate(name, Schema.Annotation.number, UInt64(operation.bodyWaits[reason]))
        }
        if operation.notified != .absent {
            annotate(.notification, Schema.Annotation.number, UInt64(operation.notified - operation.end))
        }
    }

    private mutating func write(_ instant: TimelineInstant, track: UInt64, _ words: LaneWords) throws {
        counts.instants += 1
        let operations = trace.operations
        try event(instant.time, Schema.TrackEvent.instant, track: track) { event in
            func annotate(_ name: Annotation, _ field: UInt64, _ value: UInt64) {
                event.message(Schema.TrackEvent.annotations) { annotation in
                    annotation.number(Schema.Annotation.name, name.rawValue)
                    annotation.number(field, value)
                }
            }
            func head(_ category: Category, _ name: UInt64) {
                event.number(Schema.TrackEvent.categories, category.rawValue)
                event.number(Schema.TrackEvent.name, name)
            }
            switch instant.content {
            case .submit(let index):
                head(.operation, words.words.submit)
                annotate(.number, Schema.Annotation.number, UInt64(index))
            case .crowded(let index):
                head(.operation, words.classes[Int(operations[Int(index)].operationClass)])
                annotate(.number, Schema.Annotation.number, UInt64(index))
            case .event(let kind, let other):
                head(.thread, words.words.events[kind] ?? 0)
                switch kind {
                case .wake: annotate(.other, Schema.Annotation.text, words.threads[Int(other)])
                case .leaseTaken, .leaseGivenUp: annotate(.queue, Schema.Annotation.text, words.queues[Int(other)])
                default: break
                }
            }
        }
    }

    private mutating func write(_ counter: TraceCounter, track: UInt64) throws {
        for point in counter.points {
            counts.counterValues += 1
            try event(point.time, Schema.TrackEvent.counter, track: track) {
                $0.signed(Schema.TrackEvent.counterValue, point.value)
            }
        }
    }
}

import Testing

@testable import OpBenchProfile

@Suite("Timelines")
struct TimelineTests {
    // MARK: Protobuf

    @Test("Protobuf's wire format, with the examples of its documentation")
    func wireFormat() {
        var message = ProtobufMessage()
        message.number(1, 150)
        #expect(message.bytes == [0x08, 0x96, 0x01])
        message.removeAll()
        message.text(2, "testing")
        #expect(message.bytes == [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6E, 0x67])
        message.removeAll()
        message.message(3) { $0.number(1, 150) }
        #expect(message.bytes == [0x1A, 0x03, 0x08, 0x96, 0x01])
        message.removeAll()
        message.signed(1, -2)
        #expect(message.bytes == [0x08, 0xFE] + [UInt8](repeating: 0xFF, count: 8) + [0x01])
        message.removeAll()
        message.fixed64(47, 1)
        #expect(message.bytes == [0xF9, 0x02, 1, 0, 0, 0, 0, 0, 0, 0])
        message.removeAll()
        message.number(16, .max)
        #expect(message.bytes == [0x80, 0x01] + [UInt8](repeating: 0xFF, count: 9) + [0x01])
    }

    @Test(
        "A nested message of any length is preceded by its length", arguments: [0, 125, 126, 127, 128, 16_381, 16_390])
    func nestedLengths(length: Int) {
        let text = String(repeating: "x", count: length)
        var message = ProtobufMessage()
        message.message(1) { outer in outer.message(2) { $0.text(1, text) } }
        /// A tag, a length with seven bits per byte, the lowest first, and the content.
        func field(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            let (low, middle, high) = (content.count & 127, content.count >> 7 & 127, content.count >> 14)
            let lengths = high > 0 ? [low | 128, middle | 128, high] : middle > 0 ? [low | 128, middle] : [low]
            return [tag] + lengths.map { UInt8($0) } + content
        }
        #expect(message.bytes == field(0x0A, field(0x12, field(0x0A, Array(text.utf8)))))
    }

    // MARK: Counters

    private func points(_ trace: SampleTrace, _ name: String) throws -> [[Int64]] {
        try #require(trace.counters().first { $0.name == name }).points.map { [$0.time, $0.value] }
    }

    @Test("Counters follow from the records")
    func counters() throws {
        let chain = Fixture.chain
        #expect(try points(chain, "waiting") == [[0, 2], [10, 1], [23, 0]])
        #expect(try points(chain, "ready") == [[10, 1], [12, 0], [23, 1], [25, 0]])
        #expect(try points(chain, "running") == [[0, 1], [10, 0], [12, 1], [22, 0], [25, 1], [35, 0]])
        #expect(try points(chain, "depth") == [[0, 3], [10, 2], [22, 1], [35, 0]])
        let all = Fixture.everything
        #expect(try points(all, "workers") == [[-5, 1], [-4, 2], [45, 1]])
        #expect(try points(all, "awake") == [[-5, 1], [-4, 2], [11, 1], [21, 2], [33, 1], [45, 0]])
        // The cancelled operation is removed at its end.
        #expect(try points(all, "depth").contains([5, 4]))
        #expect(try points(all, "depth").last == [41, 0])
    }

    @Test("Several queues have their own counters, but not too many")
    func queueCounters() throws {
        var trace = Fixture.chain
        #expect(!trace.counters().contains { $0.name.hasPrefix("depth of") })
        trace.queues.append(SampleTrace.Queue(name: "other"))
        trace.operations[1].queue = 1
        #expect(try points(trace, "depth of other") == [[0, 1], [22, 0]])
        #expect(try points(trace, "depth of queue 0") == [[0, 2], [10, 1], [35, 0]])
        trace.queues += (0..<20).map { SampleTrace.Queue(name: "q\($0)") }
        #expect(!trace.counters().contains { $0.name.hasPrefix("depth of") })
    }

    @Test("A thinned counter has true points, including the last, and no more than requested")
    func thinned() {
        let counter = TraceCounter("c", up: Array(0..<1000), down: (0..<1000).map { $0 + 500 })
        let thinned = counter.thinned(to: 10)
        #expect(thinned.points.count <= 10)
        #expect(thinned.points.allSatisfy(counter.points.contains))
        #expect(thinned.points.last == counter.points.last)
        #expect(counter.thinned(to: counter.points.count) == counter)
        #expect(counter.maximum == 500)
    }

    // MARK: Rows

    private func overlapping(_ count: Int) -> SampleTrace {
        var trace = Fixture.trace(
            workers: 1,
            (0..<count).map { TracedOperation(submit: 0, start: Int64($0), end: Int64(count + $0 + 1), worker: 0) })
        trace.threads = [SampleTrace.Thread(name: "worker", role: .worker, id: 5)]
        return trace
    }

    @Test("Overlapping slices get separate rows; nested or successive ones stay")
    func rows() throws {
        var trace = overlapping(3)
        trace.operations += [
            // Within the first, directly after it, and without any length at a border.
            TracedOperation(submit: 0, start: 1, end: 2, worker: 0),
            TracedOperation(submit: 0, start: 4, end: 8, worker: 0),
            TracedOperation(submit: 0, start: 8, end: 8, worker: 0),
        ]
        let lanes = TimelineLanes(trace).lanes
        #expect(lanes.map(\.number) == [0, 1, 2])
        #expect(lanes.map { $0.name(in: trace) } == ["worker", "worker, row 2", "worker, row 3"])
        #expect(lanes.map { $0.slices.map { Int($0.index) } } == [[0, 3, 4, 5], [1], [2]])
        for lane in lanes { expectNesting(lane) }
        #expect(lanes.flatMap(\.slices).count == 6)
    }

    @Test("Random rows nest, and their edges balance in order of time", arguments: 0..<20 as Range<UInt64>)
    func randomRows(seed: UInt64) {
        var trace = WorkSpanTests.random(seed, 60)
        trace.threads = (0..<3).map { SampleTrace.Thread(name: "t\($0)", role: .worker, id: $0 + 1) }
        for index in trace.operations.indices {
            trace.operations[index].worker = index % 4 == 3 ? TracedOperation.unknown : UInt16(index % 4)
        }
        let lanes = TimelineLanes(trace)
        #expect(lanes.crowded.isEmpty)
        #expect(lanes.lanes.reduce(0) { $0 + $1.slices.count } == 60 + trace.spans.count)
        for lane in lanes.lanes { expectNesting(lane) }
    }

    private func expectNesting(_ lane: TimelineLane) {
        var (open, last): ([TimelineSlice], TraceTime) = ([], .min)
        lane.forEachEdge { edge, slice in
            let time = edge == .begin ? slice.start : slice.end
            #expect(time >= last)
            last = time
            switch edge {
            case .begin: open.append(slice)
            case .end: #expect(open.popLast() == slice)
            }
        }
        #expect(open.isEmpty)
    }

    @Test("Too many overlapping slices become points, and none is lost")
    func crowded() throws {
        let trace = overlapping(100)
        let lanes = TimelineLanes(trace)
        #expect(lanes.lanes.count == TimelineLanes.mostRows)
        #expect(lanes.crowded.count == 100 - TimelineLanes.mostRows)
        let counts = try PerfettoWriter.write(trace, to: ByteCollector())
        #expect(counts.slices == TimelineLanes.mostRows)
        // Plus the two marks.
        #expect(counts.instants == 100 - TimelineLanes.mostRows + 2)
        #expect(counts.leftOut == 0)
    }

    // MARK: Files

    @Test("Perfetto: counts match the written events")
    func perfettoCounts() throws {
        let collector = ByteCollector()
        let counts = try PerfettoWriter.write(Fixture.everything, to: collector)
        // Four operations, two parks, two spans.
        #expect(counts.slices == 8)
        // Five submissions, nine events of threads that are not parks, two marks.
        #expect(counts.instants == 5 + 9 + 2)
        // One of the two dependencies has two bars.
        #expect(counts.flows == 1)
        let values = Fixture.everything.counters().reduce(0) { $0 + $1.points.count }
        #expect(counts.counterValues == values)
        #expect(counts.packets == 2 + counts.tracks + 2 * counts.slices + counts.instants + values)
        #expect(collector.bytes.count > 1000)
    }

    @Test("Perfetto: an operation takes less than 200 bytes, whatever surrounds it")
    func perfettoSize() throws {
        var trace = SampleTrace(workerCount: 2)
        trace.threads = (0..<3).map { SampleTrace.Thread(name: "thread \($0)", role: .worker, id: $0 + 1) }
        trace.queues = [SampleTrace.Queue(name: "queue")]
        trace.classes = ["operation"]
        // Times as late and as long as in a sample of a million.
        let count = 20_000
        for index in 0..<count {
            let start = 2_000_000_000 + Int64(index) * 1_000_000
            trace.operations.append(
                TracedOperation(
                    submit: 1_000_000_000 + Int64(index) * 1000, ready: start - 900_000, start: start,
                    end: start + 900_000, notified: start + 990_000, worker: UInt16(index % 2), submitter: 2,
                    priority: 4))
            if index > 0 { trace.dependencies.append(TracedDependency(UInt32(index - 1), before: UInt32(index))) }
        }
        let collector = ByteCollector()
        try PerfettoWriter.write(trace, to: collector)
        let counterBytes = 5 * count * 24
        #expect(collector.bytes.count - counterBytes < 190 * count)
    }

    @Test("Chrome: times are exact", arguments: [(0, "0.000"), (1, "0.001"), (1_234_567, "1234.567"), (-5, "-0.005")])
    func microseconds(time: Int64, text: String) {
        #expect(ChromeWriter.microseconds(time) == text)
    }

    @Test("Chrome: every event up to the cap, the first ones, and a message", arguments: [0, 1, 10, 20, 1000])
    func chromeCap(limit: Int) throws {
        let collector = ByteCollector()
        let result = try ChromeWriter.write(Fixture.everything, to: collector, limit: limit)
        let events = collector.text.split(separator: "\n").filter {
            $0.hasPrefix("{\"ph\":") && !$0.hasPrefix("{\"ph\":\"M\"")
        }
        #expect(result.events == events.count)
        #expect(result.events <= limit)
        #expect((result.message == nil) == (limit == 1000))
        if limit == 1000 {
            #expect(result.events == result.allEvents)
        } else {
            let message = try #require(result.message)
            #expect(message.contains("\(result.events) ") && message.contains("\(result.allEvents) "))
        }
    }
}

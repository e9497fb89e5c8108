import Testing

@testable import OpBenchProfile

@Suite("Timelines")
struct TimelineTests {
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
        var open: [TraceTime] = []
        for slice in lane.slices {
            while let end = open.last, end <= slice.start { open.removeLast() }
            #expect(slice.start <= slice.end && slice.end <= open.last ?? .max)
            open.append(slice.end)
        }
        #expect(lane.slices.map(\.start) == lane.slices.map(\.start).sorted())
    }

    @Test("Too many overlapping slices become points, and none is lost")
    func crowded() throws {
        let trace = overlapping(100)
        let lanes = TimelineLanes(trace)
        #expect(lanes.lanes.count == TimelineLanes.mostRows)
        #expect(lanes.crowded.count == 100 - TimelineLanes.mostRows)
        #expect(trace.instants(lanes).map(\.count) == [100 - TimelineLanes.mostRows])
    }

    // MARK: Files

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

import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

@Suite("Summary")
struct SummaryTests {
    private func summary(_ rows: Rows, _ backend: BackendID = .engine, class operationClass: String = "") throws
        -> SummaryRow
    {
        try #require(
            summarize(rows.rows).first { $0.backend == backend && $0.operationClass == operationClass })
    }

    @Test("Throughput figures are medians over samples, costs are per operation")
    func throughput() throws {
        var rows = Rows()
        for (block, seconds) in [0.1, 0.2, 0.4].enumerated() { rows.addThroughput(block: block, seconds: seconds) }
        let row = try summary(rows)
        #expect(row.samples == 3 && row.status == .ok)
        #expect(
            row[.operationThroughput].value == 5000 && row[.itemThroughput].value == 50000
                && row[.time].value == 200_000)
        #expect(row[.cpuTime].value == 400_000)
        #expect(row[.voluntarySwitches].value == 0.05 && row[.involuntarySwitches].value == 0.005)
        #expect(row[.makespan].value == 1e8)
        #expect(row[.operationThroughput].low == nil && row[.operationThroughput].high == nil)
        #expect(row[.time].low == nil && row[.time].high == nil)
        #expect(row.parameters == ["items": "10"])
    }

    @Test("Unsteady samples count among those of enough rounds; modes are those of the times per operation")
    func levels() throws {
        var rows = Rows()
        for (block, seconds) in [0.1, 0.1001, 0.1002, 0.15, 0.1501, 0.1502, 0.1503].enumerated() {
            rows.addThroughput(block: block, seconds: seconds, flags: [.unsteady], change: -0.2)
            rows.addThroughput(.dispatch, block: block, seconds: 1, change: 0)
            rows.addThroughput(.serial, block: block, seconds: 1)
        }
        let engine = try summary(rows)
        #expect(engine.quality?.levelled == 7 && engine.quality?.unsteady == 7)
        #expect(engine.modes.low?.rounded() == 100_100 && engine.modes.high?.rounded() == 150_150)
        #expect(engine.modes.highSamples == 4)
        let dispatch = try summary(rows, .dispatch)
        #expect(dispatch.quality?.levelled == 7 && dispatch.quality?.unsteady == 0 && dispatch.modes == Modes())
        #expect(try summary(rows, .serial).quality?.levelled == 0)
        // A repetition replaces what it repeats.
        for block in 0..<3 {
            rows.addThroughput(block: block, seconds: 0.1, flags: [.rerun], repeats: true, change: 0)
        }
        let repeated = try summary(rows).quality
        #expect(repeated?.levelled == 7 && repeated?.unsteady == 4)
    }

    @Test("A ratio is marked if one backend does not promise what the shape is about")
    func unlike() throws {
        var rows = Rows()
        rows.addThroughput(.engine, block: 0, seconds: 0.1)
        rows.addThroughput(.dispatch, block: 0, seconds: 0.2, flags: [.unpromised, .noisy])
        rows.addThroughput(.foundation, block: 0, seconds: 0.3)
        #expect(try summary(rows).isRatioUnlike)
        #expect(try summary(rows)[.timeRatio].value == 0.5)
        #expect(try summary(rows).flags == [])
        #expect(try summary(rows, .dispatch).flags == [.noisy, .unpromised])
        #expect(try !summary(rows, .dispatch).isRatioUnlike)
        let ratios = summarize(rows.rows, ratioTo: .foundation)
        #expect(ratios.map(\.isRatioUnlike) == [false, true, false])
    }

    @Test("If most samples of an open loop are overloaded, there are two rates and no latency")
    func overload() throws {
        func row(overloaded: Int) throws -> SummaryRow {
            var rows = Rows()
            for block in 0..<3 {
                rows.add(
                    kind: "latency", block: block, flags: block < overloaded ? [.overloaded] : [],
                    figures: [
                        (.intendedLatency, "p99", "", "", 1e9, 10), (.startLatency, "p50", "", "", 1e9, 10),
                        (.arrivalRate, "rate", "", "", 3000, 10), (.completionRate, "rate", "", "", 1000, 10),
                    ])
            }
            return try summary(rows)
        }
        let (some, most) = (try row(overloaded: 1), try row(overloaded: 2))
        #expect(some[.intendedLatencyP99].value == 1e9 && some[.startLatencyP50].value == 1e9)
        #expect(most[.intendedLatencyP99].value == nil && most[.startLatencyP50].value == nil)
        #expect(most[.arrivalRate].value == 3000 && most[.completionRate].value == 1000)
        #expect(most.flags == [.overloaded])
    }

    @Test("The scheduling efficiency is the median over samples")
    func efficiency() throws {
        var rows = Rows()
        for (block, efficiency) in [0.5, 0.9, 0.6].enumerated() {
            rows.add(
                kind: "throughput", block: block,
                figures: [(.schedulingEfficiency, "mean", "makespan", "", efficiency, 10)])
        }
        #expect(try summary(rows)[.schedulingEfficiency].value == 0.6)
    }

    @Test("The makespan and counts of events are per round")
    func rounds() throws {
        var rows = Rows()
        rows.addThroughput(block: 0, seconds: 0.8, rounds: 4)
        rows.add(
            kind: "latency", block: 0,
            figures: [
                (.rounds, "total", "", "", 5, 50), (.inversions, "total", "", "", 20, 50),
                (.inversions, "total", "", "priority=high", 10, 25), (.startsAfterSuspend, "total", "", "", 1, 50),
            ])
        let row = try summary(rows)
        #expect(row[.makespan].value == 1e8 && row[.inversions].value == 4 && row[.startsAfterSuspend].value == 0.2)
        #expect(try summary(rows, class: "priority=high")[.inversions].value == 2)
    }

    @Test("Figures of single-feature shapes: per their own operations, and ratios unchanged")
    func features() throws {
        var rows = Rows()
        for (block, scale) in [1.0, 2, 3].enumerated() {
            rows.add(
                kind: "throughput", block: block,
                figures: [
                    (.time, "total", "cancel", "", scale * 1e6, 500),
                    (.releaseTime, "total", "released", "", scale * 4e6, 1000),
                    (.pageFaults, "total", "released", "", scale * 30, 1000),
                    (.pageFaults, "total", "total", "", scale * 500, 1000),
                    (.makespanRatio, "total", "makespan", "", scale, 1000),
                ])
        }
        let row = try summary(rows)
        #expect(row[.cancelTime].value == 4000 && row[.releaseTime].value == 8000 && row[.makespanRatio].value == 2)
        #expect(row[.releaseFaults].value == 0.06 && row[.pageFaults].value == 1)
    }

    @Test("From six samples on there is an interval, the same each time")
    func interval() throws {
        var rows = Rows()
        for block in 0..<7 { rows.addThroughput(block: block, seconds: 0.1 + Double(block) / 100) }
        let row = try summary(rows)
        let (low, high) = (try #require(row[.operationThroughput].low), try #require(row[.operationThroughput].high))
        #expect(low < row[.operationThroughput].value! && row[.operationThroughput].value! < high)
        #expect(try summary(rows) == row)
    }

    /// Per operation, the engine takes 1/2, 1/4 and 1/8 of Dispatch's time in the three blocks: the logarithms to base
    /// 2 are −1, −2, −3, with the Hodges–Lehmann centre −2. The engine counts twice the operations in twice the time.
    @Test("The ratio compares times per operation, block by block")
    func ratio() throws {
        var rows = Rows()
        for (block, share) in [2.0, 4, 8].enumerated() {
            rows.addThroughput(.dispatch, block: block, seconds: 0.8)
            rows.addThroughput(.engine, block: block, seconds: 1.6 / share, operations: 2000)
        }
        let row = try summary(rows)
        #expect(abs(row[.timeRatio].value! - 0.25) < 1e-12)
        #expect(row.ratioTo == .dispatch && row[.timeRatio].low == nil)
        #expect(try summary(rows, .dispatch)[.timeRatio].value == 1)
    }

    @Test("A drift of a whole block does not change the ratio and its interval")
    func pairing() throws {
        var rows = Rows()
        for (block, drift) in [1.0, 3, 1, 9, 2, 1, 5].enumerated() {
            rows.addThroughput(.dispatch, block: block, seconds: 0.2 * drift)
            rows.addThroughput(.engine, block: block, seconds: 0.1 * drift)
        }
        let row = try summary(rows)
        for figure in [row[.timeRatio].value, row[.timeRatio].low, row[.timeRatio].high] {
            #expect(abs(figure! - 0.5) < 1e-12)
        }
    }

    @Test("Blocks that lack one side do not count; without a baseline there is no ratio")
    func unpaired() throws {
        var rows = Rows()
        rows.addThroughput(.engine, block: 0, seconds: 0.1)
        rows.addThroughput(.engine, block: 1, seconds: 0.5)
        #expect(try summary(rows)[.timeRatio].value == nil)
        #expect(try summary(rows).ratioTo == nil)
        rows.addThroughput(.dispatch, block: 0, seconds: 0.2)
        rows.add(.dispatch, kind: "throughput", block: 1, status: .crashed)
        #expect(abs(try summary(rows)[.timeRatio].value! - 0.5) < 1e-12)
        #expect(try summary(rows, .dispatch).status == .crashed)
    }

    @Test("Another baseline can be selected")
    func otherBaseline() throws {
        var rows = Rows()
        rows.addThroughput(.engine, block: 0, seconds: 0.1)
        rows.addThroughput(.foundation, block: 0, seconds: 0.4)
        let row = try #require(summarize(rows.rows, ratioTo: .foundation).first)
        #expect(abs(row[.timeRatio].value! - 0.25) < 1e-12 && row.ratioTo == .foundation)
    }

    @Test("Latencies are medians of each percentile, in nanoseconds; the maximum is over all samples")
    func latencies() throws {
        var rows = Rows()
        for (block, scale) in [1.0, 2, 9].enumerated() {
            rows.add(
                kind: "latency", block: block,
                figures: [
                    (.startLatency, "p50", "", "", 1e3 * scale, 10), (.startLatency, "p90", "", "", 2e3 * scale, 10),
                    (.startLatency, "p99", "", "", 3e3 * scale, 10),
                    (.startLatency, "p99.9", "", "", 4e3 * scale, 10),
                    (.startLatency, "max", "", "", 5e3 * scale, 10), (.endLatency, "p50", "", "", 6e3 * scale, 10),
                    (.endLatency, "p99", "", "", 7e3 * scale, 10), (.quiesceTime, "p90", "", "", 8e3 * scale, 10),
                    (.resumeToStart, "p90", "", "", 9e3 * scale, 10), (.inversions, "total", "", "", scale, 10),
                    (.startsAfterSuspend, "total", "", "", 3 * scale, 10),
                    (.startLatency, "p50", "", "priority=high", 200 * scale, 10),
                    (.submitLatency, "p50", "", "", 10e3 * scale, 10),
                    (.submitLatency, "p99", "", "", 11e3 * scale, 10),
                    (.notifyLatency, "p50", "", "", 12e3 * scale, 10),
                    (.notifyLatency, "p99", "", "", 13e3 * scale, 10),
                    (.selfPerturbation, "p50", "", "", 1 + scale / 10, 10),
                ])
        }
        let row = try summary(rows)
        let figures = [
            row[.startLatencyP50].value, row[.startLatencyP90].value, row[.startLatencyP99].value,
            row[.startLatencyP999].value, row[.startLatencyMax].value,
            row[.endLatencyP50].value, row[.endLatencyP99].value, row[.quiesceP90].value, row[.resumeToStartP90].value,
            row[.submitLatencyP50].value,
            row[.submitLatencyP99].value, row[.notifyLatencyP50].value, row[.notifyLatencyP99].value,
        ]
        let expected = [
            2000.0, 4000, 6000, 8000, 45000, 12000, 14000, 16000, 18000, 20000, 22000, 24000, 26000,
        ]
        for (figure, expected) in zip(figures, expected) { #expect(abs(figure! - expected) < 1e-6) }
        #expect(abs(row[.selfPerturbation].value! - 1.2) < 1e-12)
        #expect(row[.inversions].value == 2 && row[.startsAfterSuspend].value == 6 && row.samples == 3)
        #expect(
            row[.operationThroughput].value == nil && row[.peakResident].value == nil && row[.timeRatio].value == nil)

        let high = try summary(rows, class: "priority=high")
        #expect(
            abs(high[.startLatencyP50].value! - 400) < 1e-6 && high[.startLatencyP90].value == nil && high.samples == 3)
    }

    @Test("Paced operations: both latencies, the submit lag, the sustained rate")
    func paced() throws {
        var rows = Rows()
        for (block, scale) in [1.0, 2, 9].enumerated() {
            rows.add(
                kind: "latency", block: block,
                figures: [
                    (.intendedLatency, "p50", "", "", 1e6 * scale, 10),
                    (.intendedLatency, "p99", "", "", 1e9 * scale, 10),
                    (.intendedLatency, "p99.9", "", "", 2e9 * scale, 10),
                    (.serviceLatency, "p50", "", "", 3e6 * scale, 10),
                    (.serviceLatency, "p99", "", "", 4e9 * scale, 10),
                    (.serviceLatency, "p99.9", "", "", 5e9 * scale, 10), (.submitLag, "p99", "", "", 6e3 * scale, 10),
                    (.sustainedRate, "rate", "", "", 1000 * scale, 10),
                ])
        }
        let row = try summary(rows)
        let figures = [
            row[.intendedLatencyP50].value, row[.intendedLatencyP99].value, row[.intendedLatencyP999].value,
            row[.serviceLatencyP50].value,
            row[.serviceLatencyP99].value, row[.serviceLatencyP999].value, row[.submitLagP99].value,
            row[.sustainedRate].value,
        ]
        let expected = [2e6, 2e9, 4e9, 6e6, 8e9, 1e10, 12_000, 2000]
        for (figure, expected) in zip(figures, expected) { #expect(abs(figure! / expected - 1) < 1e-12) }
        #expect(row[.timeRatio].value == nil && row[.startLatencyP50].value == nil)
    }

    @Test("Intervals of times and latencies are over the samples, from six samples on")
    func intervals() throws {
        func summary(samples: Int) throws -> SummaryRow {
            var rows = Rows()
            for block in 0..<samples {
                let scale = 1 + Double(block * 7 % 10) / 10
                rows.addThroughput(block: block, seconds: scale)
                rows.add(
                    kind: "latency", block: block,
                    figures: [
                        (.startLatency, "p50", "", "", 100 * scale, 10), (.serviceLatency, "p99", "", "", scale, 10),
                    ])
            }
            return try self.summary(rows)
        }
        let many = try summary(samples: 10)
        let (low, time, high) = (many[.time].low!, many[.time].value!, many[.time].high!)
        #expect(abs(time - 1.45e6) < 1 && low >= 1e6 && low < time && high > time && high <= 1.9e6)
        #expect(many[.operationThroughput].low! <= 1e9 / time && many[.operationThroughput].high! >= 1e9 / time)
        let start = many[.startLatencyP50]
        #expect(
            start.low! >= 100 && start.low! < many[.startLatencyP50].value!
                && start.high! > many[.startLatencyP50].value!)
        #expect(many[.serviceLatencyP99].low != nil && many[.serviceLatencyP99].high! <= 1.9)
        #expect(many[.startLatencyP99].low == nil && many[.endLatencyP50].low == nil)
        let few = try summary(samples: 5)
        #expect(few[.startLatencyP50].value != nil && few[.startLatencyP50].low == nil)
        #expect(few[.time].value != nil && few[.time].low == nil)
    }

    @Test("Memory figures are per operation if named so, and the peak is the maximum")
    func memory() throws {
        var rows = Rows()
        for block in 0..<2 {
            rows.add(
                kind: "allocations", block: block,
                figures: [
                    (.allocations, "total", "total", "", 30 + 20 * Double(block), 10),
                    (.allocatedBytes, "total", "total", "", 640, 10),
                ])
            rows.add(
                kind: "heap", block: block,
                figures: [
                    (.retainedBytes, "total", "mark:pending", "", 2000, 10),
                    (.retainedBytes, "total", "mark:drained", "", 77, 10),
                    (.unreleasedBytes, "total", "mark:released", "", 48, 10),
                    (.peakResident, "max", "", "", 1e6 * Double(block + 1), 10),
                ])
            rows.add(
                kind: "calls", block: block,
                figures: [
                    (.futexCalls, "total", "total", "", 5 + 10 * Double(block), 10),
                    (.threadsCreated, "total", "", "", 2 + 2 * Double(block), 10),
                ])
        }
        let row = try summary(rows)
        #expect(row[.allocations].value == 4 && row[.allocatedBytes].value == 64)
        #expect(row[.retainedBytes].value == 200 && row[.unreleasedBytes].value == 48)
        #expect(row[.peakResident].value == 2e6 && row.samples == 2)
        #expect(row[.futexCalls].value == 1 && row[.threadsCreated].value == 3)
    }

    @Test("Warm-up and failed samples give no figures, and the worst status is reported")
    func uncounted() throws {
        var rows = Rows()
        rows.addThroughput(block: 0, seconds: 0.1)
        rows.rows.append(rows.rows[0])
        rows.rows[rows.rows.count - 1].phase = "warmup"
        rows.rows[rows.rows.count - 1].iteration = 0
        rows.add(
            kind: "throughput", block: 1, status: .invalid,
            figures: [(.operationThroughput, "rate", "total", "", 1e9, 1000)])
        rows.add(kind: "throughput", block: 2, status: .timeout)
        let row = try summary(rows)
        #expect(row[.operationThroughput].value == 10000 && row.samples == 1 && row.status == .invalid)
    }

    @Test(
        "One status represents several",
        arguments: [
            ([.ok, .unsupported], .ok), ([.skipped], .skipped), ([.unsupported], .unsupported),
            ([.ok, .timeout, .ok], .timeout), ([.timeout, .crashed], .crashed), ([.crashed, .invalid], .invalid),
        ] as [([SampleStatus], SampleStatus)])
    func statuses(all: [SampleStatus], worst: SampleStatus) throws {
        var rows = Rows()
        for (block, status) in all.enumerated() { rows.add(kind: "check", block: block, status: status) }
        #expect(try summary(rows).status == worst)
    }

    @Test("A repetition replaces the noisy sample, whatever its value")
    func repetition() throws {
        var rows = Rows()
        rows.addThroughput(block: 0, seconds: 0.1)
        rows.addThroughput(block: 1, seconds: 0.9, flags: [.noisy])
        rows.addThroughput(block: 1, seconds: 0.2, flags: [.noisy, .rerun], repeats: true)
        rows.addThroughput(block: 2, seconds: 0.4, flags: [.noisy])
        let row = try summary(rows)
        #expect(row.samples == 3 && row[.operationThroughput].value == 5000)
        rows.add(kind: "check", block: 0, status: .unsupported)
        let doubtful = DoubtfulSamples([rows.rows])
        #expect((doubtful.noisy, doubtful.repeated, doubtful.total) == (2, 1, 3))
    }

    @Test("Runs, cells and sides are separate; rows are in order of first appearance")
    func groups() throws {
        var rows = Rows()
        rows.addThroughput(.foundation, block: 0, seconds: 0.1)
        rows.addThroughput(.engine, block: 0, seconds: 0.1)
        rows.addThroughput(.engine, block: 0, seconds: 0.2, run: "s")
        rows.addThroughput(.engine, block: 0, seconds: 0.4, side: "head")
        rows.add(.engine, kind: "check", block: 0, cell: "w items=5")
        let summary = summarize(rows.rows)
        #expect(summary.map(\.runID) == ["r", "r", "s", "r"])
        #expect(summary.map(\.backend) == [.foundation, .engine, .engine, .engine])
        #expect(summary.map { $0[.operationThroughput].value } == [10000, 10000, 5000, nil])
        #expect(summary.last?.cellID == "w items=5" && summary.last?.samples == 0)
        #expect(summarize(rows.rows, side: "head").map { $0[.operationThroughput].value } == [2500])
        #expect(summarize([]).isEmpty)
    }

    @Test("The order of rows within a group does not matter", arguments: 1...10)
    func order(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var rows = Rows()
        for block in 0..<8 {
            rows.addThroughput(.dispatch, block: block, seconds: .random(in: 0.1...0.3, using: &generator))
            rows.addThroughput(.engine, block: block, seconds: .random(in: 0.1...0.3, using: &generator))
        }
        var shuffled = rows
        shuffled.rows.shuffle(using: &generator)
        let (one, other) = (try summary(rows), try summary(shuffled))
        #expect(one == other)
        #expect(one[.timeRatio].low! <= one[.timeRatio].value! && one[.timeRatio].value! <= one[.timeRatio].high!)
    }
}

import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

/// Figures of one run, judged by goals.
@Suite("Goals")
struct GoalTests {
    private static let notify = BackendID(rawValue: "dispatch:notify")

    private func goal(
        _ metric: String = "time", cell: String = "*", against reference: GatePolicy.Rule.Reference? = nil,
        atMost: Double, minBlocks: Int = 7
    ) -> GatePolicy.Rule {
        var selector = GatePolicy.Selector()
        (selector.metric, selector.cell, selector.backend) = (metric, cell, "engine")
        if metric == "time" { selector.phase = "total" }
        return GatePolicy.Rule(selector, FigureRule(atMost: atMost, minBlocks: minBlocks), against: reference)
    }

    /// A run whose machine drifts by up to eight times from block to block; the engine takes a fraction of Dispatch's
    /// time, which varies a little from block to block.
    private func run(part: Double, noise: Double = 0.05, blocks: Int = 7) -> [SampleRow] {
        var rows = Rows()
        for block in 0..<blocks {
            let drift = 1 + Double(block * 3 % 8)
            let differing = 1 + noise * (Double(block * 5 % 7) / 3 - 1)
            rows.addThroughput(block: block, seconds: part * drift * differing)
            rows.addThroughput(.dispatch, block: block, seconds: drift)
            rows.addThroughput(Self.notify, block: block, seconds: 0.8 * drift)
        }
        return rows.rows
    }

    private func judge(_ goal: GatePolicy.Rule, _ rows: [SampleRow]) throws -> CompareRow {
        let judged = try GoalJudgement([goal], of: [("r", rows)]).rows
        try #require(judged.count == 1)
        return judged[0]
    }

    @Test(
        "A ratio to a backend is taken within blocks: met, missed, and inconclusive with a remedy",
        arguments: [(0.6, Verdict.met), (0.4, .missed), (0.5, .inconclusive)])
    func ratio(atMost: Double, verdict: Verdict) throws {
        let row = try judge(goal(against: .fastest([.dispatch]), atMost: atMost), run(part: 0.5))
        #expect(row.verdict == verdict)
        #expect(abs(try #require(row.ratio) - 0.5) < 0.02)
        #expect(try #require(row.ratioLow) < 0.5 && #require(row.ratioHigh) > 0.5)
        // A drift by eight times would widen the quotient of the medians' intervals, but not ratios within blocks.
        #expect(try #require(row.ratioHigh) - #require(row.ratioLow) < 0.1)
        #expect((row.against, row.blocks, row.runID) == ("dispatch", 7, "r"))
        if verdict == .inconclusive, case .wideInterval(blocks: 7, _) = try #require(row.doubt) {
        } else {
            #expect((row.doubt == nil) == (verdict != .inconclusive))
        }
    }

    @Test(
        "A ratio of times on a busy machine is met or missed only if the ratio of CPU times is; a time may be met alone",
        arguments: [
            (0.3, 0.28, .met), (0.3, 0.5, .inconclusive), (0.2, 0.28, .missed), (0.2, 0.1, .inconclusive),
        ] as [(Double, Double, Verdict)])
    func busyMachine(atMost: Double, cpu: Double, expected: Verdict) throws {
        func run(_ flags: [SampleFlag]) -> [SampleRow] {
            var rows = Rows()
            for block in 0..<7 {
                let noise = 1 + 0.001 * Double(block)
                for (backend, time, cpu) in [(BackendID.dispatch, 1, 1), (.engine, 0.25 * noise, cpu * noise)] {
                    rows.add(
                        backend, kind: "throughput", block: block, flags: flags,
                        figures: [
                            (.time, "total", "total", "", time * 1e9, 1000),
                            (.cpuTime, "total", "total", "", cpu * 1e9, 1000),
                        ])
                }
            }
            return rows.rows
        }
        let quiet: Verdict = atMost > 0.25 ? .met : .missed
        for asked in [goal(against: .fastest([.dispatch]), atMost: atMost), goal("time_ratio", atMost: atMost)] {
            let row = try judge(asked, run([.noisy]))
            #expect(row.verdict == expected && (row.doubt == .busyMachine) == (expected == .inconclusive))
            #expect(try judge(asked, run([])).verdict == quiet)
        }
        let alone = goal(atMost: 1e6 * atMost)
        #expect(try judge(alone, run([.noisy])).verdict == (quiet == .met ? .met : .inconclusive))
        #expect(try judge(alone, run([])).verdict == quiet)
    }

    @Test("An interval beyond the bound is not a missed goal until the rule's blocks are there; a met goal needs six")
    func blocks() throws {
        let beyond = goal(against: .fastest([.dispatch]), atMost: 0.3, minBlocks: 15)
        let row = try judge(beyond, run(part: 0.5))
        #expect(row.verdict == .inconclusive && row.doubt == .tooFewBlocks(7, enough: 15))
        #expect(try judge(beyond, run(part: 0.5, blocks: 15)).verdict == .missed)
        let within = goal(against: .fastest([.dispatch]), atMost: 0.9, minBlocks: 15)
        #expect(try judge(within, run(part: 0.5)).verdict == .met)
        let few = try judge(within, run(part: 0.5, blocks: 5))
        #expect(few.verdict == .inconclusive && few.doubt == .tooFewBlocks(5, enough: 15))
        #expect(few.ratioLow == nil && few.ratio != nil)
    }

    @Test("The fastest of several backends counts; an unmeasured one does not")
    func fastest() throws {
        let rows = run(part: 0.4)
        let row = try judge(goal(against: .fastest([.dispatch, Self.notify, .foundation]), atMost: 0.6), rows)
        #expect(row.against == "dispatch:notify" && row.verdict == .met)
        #expect(abs(try #require(row.ratio) - 0.5) < 0.02)
        let absent = try judge(goal(against: .fastest([.foundation]), atMost: 0.6), rows)
        #expect(absent.verdict == .missing && absent.against == "foundation" && absent.head != nil)
    }

    @Test("A ratio to another cell is per operation, of the same backend")
    func cells() throws {
        var rows = Rows()
        for block in 0..<7 {
            rows.addThroughput(block: block, seconds: 1, operations: 1000, cell: "w items=10")
            rows.addThroughput(
                block: block, seconds: 24, operations: 20_000, cell: "w items=200", parameters: ["items": "200"])
        }
        for (atMost, verdict) in [(1.3, Verdict.met), (1.1, .missed)] {
            let asked = goal(cell: "w items=200", against: .cell("w items=10"), atMost: atMost)
            let row = try judge(asked, rows.rows)
            #expect(row.verdict == verdict && row.against == "w items=10")
            #expect(abs(try #require(row.ratio) - 1.2) < 1e-9)
        }
        let nowhere = goal(cell: "w items=200", against: .cell("w items=11"), atMost: 1)
        #expect(try judge(nowhere, rows.rows).verdict == .missing)
    }

    @Test("Without a reference the figure itself is bounded: varying figures by their interval, counts by value")
    func figures() throws {
        func memory(_ bytes: [Double], allocations: Double = 200_040) -> [SampleRow] {
            var rows = Rows()
            for (block, value) in bytes.enumerated() {
                rows.add(
                    kind: "memory", block: block,
                    figures: [
                        (.retainedBytes, "total", "mark:pending", "", value * 1000, 1000),
                        (.allocations, "total", "total", "", allocations, 100_000),
                    ])
            }
            return rows.rows
        }
        let steady = Array(repeating: 176.0, count: 7)
        #expect(try judge(goal("retained_bytes", atMost: 180), memory(steady)).verdict == .met)
        #expect(try judge(goal("retained_bytes", atMost: 170), memory(steady)).verdict == .missed)
        let two = try judge(goal("retained_bytes", atMost: 180), memory([176, 176]))
        #expect(two.verdict == .inconclusive && two.doubt == .tooFewBlocks(2, enough: 7) && two.head == 176)
        let spread = try judge(goal("retained_bytes", atMost: 176), memory([150, 160, 170, 176, 180, 190, 200]))
        #expect(spread.verdict == .inconclusive && spread.ratio == nil)
        // Two samples of a count that barely varies are as good as seven.
        #expect(try judge(goal("allocations", atMost: 2.005), memory([176, 176])).verdict == .met)
        #expect(try judge(goal("allocations", atMost: 2), memory([176, 176])).verdict == .missed)
        // Of counts that scatter, the least that two agree on.
        var scattered = Rows()
        for (block, count) in [300.0, 200, 400, 200, 300].enumerated() {
            scattered.add(
                kind: "allocations", block: block, figures: [(.allocations, "total", "total", "", count, 100)])
        }
        let least = try judge(goal("allocations", atMost: 2), scattered.rows)
        #expect(least.verdict == .met && least.head == 2)
    }

    @Test("0 is not above 0; a ratio to 0 is inconclusive")
    func zeros() throws {
        func inversions(_ engine: Double, _ dispatch: Double) -> [SampleRow] {
            var rows = Rows()
            for block in 0..<7 {
                for (backend, value) in [(BackendID.engine, engine), (.dispatch, dispatch)] {
                    rows.add(
                        backend, kind: "latency", block: block, figures: [(.inversions, "total", "", "", value, 10)])
                }
            }
            return rows.rows
        }
        #expect(try judge(goal("inversions", atMost: 0), inversions(0, 3)).verdict == .met)
        #expect(try judge(goal("inversions", atMost: 0), inversions(1, 3)).verdict == .missed)
        let row = try judge(goal("inversions", against: .fastest([.dispatch]), atMost: 1), inversions(1, 0))
        #expect(row.verdict == .inconclusive && row.doubt == .noRatio)
    }

    @Test("A goal without a figure is a row named by its rule; figures where more is better do not match")
    func missing() throws {
        var selector = GatePolicy.Selector()
        (selector.workload, selector.metric) = ("w", "*")
        let everything = try GoalJudgement([.init(selector, FigureRule(atMost: 1))], of: [("r", run(part: 0.5))]).rows
        #expect(!everything.isEmpty && !everything.contains { $0.metric.hasPrefix("throughput") })
        let absent = try judge(goal(cell: "w form=block", atMost: 1), run(part: 0.5))
        #expect((absent.cellID, absent.verdict, absent.runID, absent.head) == ("w form=block", .missing, "", nil))
    }

    @Test("Runs of different cells are judged together; a cell has one run")
    func runs() throws {
        var other = Rows()
        for block in 0..<7 { other.addThroughput(block: block, seconds: 1, cell: "v", run: "other") }
        let goals = [goal(cell: "w", atMost: 1), goal(cell: "v", atMost: 1)]
        let judged = try GoalJudgement(goals, of: [("a", run(part: 0.5)), ("b", other.rows)]).rows
        #expect(judged.map(\.runID) == ["r", "other"])
        let error = try #require(throws: InputError.self) {
            try GoalJudgement(goals, of: [("a", run(part: 0.5)), ("b", run(part: 0.5))])
        }
        #expect(error.file == "b" && error.message.contains("\"w\""))
    }

    @Test(
        "A gate's outcome: bad samples, then missed goals, then missing figures, then inconclusive ones",
        arguments: [
            ([Verdict.met, .met], GateOutcome.pass), ([.met, .missed, .missing, .inconclusive], .missed),
            ([.met, .missing, .inconclusive], .missing), ([.met, .inconclusive], .inconclusive), ([], .missing),
            ([.missing], .missing),
        ])
    func outcomes(verdicts: [Verdict], outcome: GateOutcome) {
        let rows = verdicts.map { verdict in
            var row = CompareRow(
                FigureName(cellID: "w", backend: .engine, metric: "time", stat: "total"), verdict: verdict)
            row.atMost = 1
            return row
        }
        #expect(GateOutcome(rows, hasBadSample: false, isLenient: false) == outcome)
        #expect(GateOutcome(rows, hasBadSample: true, isLenient: false) == .badSample)
        if verdicts.contains(.inconclusive), outcome == .missing {
            #expect(GateOutcome(rows, hasBadSample: false, isLenient: true) == .inconclusive)
        }
    }
}

import Glibc
import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

@Suite("Comparison")
struct ComparisonTests {
    private static let rule = FigureRule(maxRegression: 0.03)
    private let question = Comparison.Question(Self.rule)

    /// Two interleaved builds, on a machine that drifts by half between blocks, with 2 % of noise within.
    private func sides(blocks: Int, slowdown: Double, noise: Double = 0.02, seed: UInt64 = 1) -> [SampleRow] {
        var generator = SplitMix64(seed: seed)
        var rows = Rows()
        for block in 0..<blocks {
            let drift = Double.random(in: 1...1.5, using: &generator)
            for side in ["base", "head"] {
                let own = exp(Double.random(in: -noise...noise, using: &generator)) * (side == "head" ? slowdown : 1)
                rows.addThroughput(block: block, seconds: drift * own, side: side)
            }
        }
        return rows.rows
    }

    private func row(_ comparison: Comparison, _ metric: String, phase: String = "total") throws -> CompareRow {
        try #require(comparison.rows.first { $0.metric == metric && $0.phase == phase })
    }

    @Test("Two backends of a run are compared within blocks, under the name of the first")
    func backends() throws {
        var rows = Rows()
        for block in 0..<8 {
            let drift = 1 + Double(block)
            rows.addThroughput(.dispatch, block: block, seconds: drift)
            rows.addThroughput(.engine, block: block, seconds: 3 * drift)
            rows.addThroughput(.serial, block: block, seconds: 100)
        }
        let comparison = try Comparison(backends: .engine, .dispatch, of: rows.rows)
        let time = try row(comparison, Metric.time.name)
        #expect(abs(try #require(time.ratio) - 1.0 / 3) < 1e-9)
        #expect(try #require(time.ratioHigh) < 0.34 && time.verdict == .unjudged)
        #expect(Set(comparison.rows.map(\.backend)) == [.engine])
    }

    @Test(
        "A pass lies within the margin, however wide its interval is towards the better",
        arguments: [
            (0.9, 1.02, .pass), (0.5, 1.029, .pass), (0.98, 1.02, .pass), (0.98, 1.04, .inconclusive),
            (0.9, 0.96, .improved), (0.9, 0.98, .pass), (1.04, 1.1, .regression),
        ] as [(Double, Double, Verdict)])
    func oneSided(low: Double, high: Double, expected: Verdict) throws {
        for direction in [Metric.Direction.lower, .higher] {
            let judgement = try judgement(low, high, direction)
            #expect(judgement.verdict == expected, "\(direction)")
            #expect((judgement.doubt != nil) == (expected == .inconclusive))
        }
    }

    @Test(
        "An improvement needs the certainty of a regression, and is a pass without it",
        arguments: [
            (15, 0, 0, .improved, .regression), (14, 0, 0, .pass, .inconclusive), (15, 0.39, 0, .pass, .inconclusive),
            (15, nil, 0, .pass, .inconclusive), (15, 0, 1500, .pass, .pass),
        ] as [(Int, Double?, Double, Verdict, Verdict)])
    func mirrored(blocks: Int, p: Double?, floor: Double, better: Verdict, worse: Verdict) throws {
        for direction in [Metric.Direction.lower, .higher] {
            #expect(try judgement(0.5, 0.74, direction, blocks: blocks, p: p, floor: floor).verdict == better)
            #expect(try judgement(1 / 0.74, 2, direction, blocks: blocks, p: p, floor: floor).verdict == worse)
        }
    }

    /// A judgement from an interval of ratios, for a base of 1000.
    private func judgement(
        _ low: Double, _ high: Double, _ direction: Metric.Direction, blocks: Int = 15, p: Double? = 0,
        floor: Double = 0
    ) throws -> Judgement {
        var effect = try #require(Effect(pairs: [(base: 1, head: 1, unit: 0)]))
        effect.blocks = blocks
        effect.interval = direction == .higher ? -log(high)...(-log(low)) : log(low)...log(high)
        let rule = FigureRule(maxRegression: 0.03, minAbsolute: floor)
        let margin = rule.margin(of: 1000, on: .ratio, direction: direction)
        return rule.judgement(on: effect, margin: margin, adjustedProbability: p, direction: direction)
    }

    @Test(
        "Verdicts on two interleaved builds",
        arguments: [(1.06, .regression), (1, .pass), (0.9, .improved)]
            as [(Double, Verdict)])
    func paired(slowdown: Double, expected: Verdict) throws {
        let comparison = try Comparison(sidesOf: sides(blocks: 20, slowdown: slowdown), question: question)
        let time = try row(comparison, "time")
        #expect(time.verdict == expected)
        #expect(abs(try #require(time.ratio) - slowdown) < 0.02)
        #expect(try #require(time.ratioLow) <= time.ratio! && time.ratio! <= time.ratioHigh!)
        // A rate is worse when it falls.
        #expect(try row(comparison, "throughput_ops").verdict == expected)
        #expect(try #require(try row(comparison, "throughput_ops").ratio) * time.ratio! < 1.0001)
    }

    @Test("Too few blocks never give a regression, nor a pass with a wide interval")
    func fewBlocks() throws {
        let clear = try Comparison(sidesOf: sides(blocks: 14, slowdown: 1.5), question: question)
        #expect(try row(clear, "time").verdict == .inconclusive)
        let tiny = try Comparison(sidesOf: sides(blocks: 5, slowdown: 1), question: question)
        #expect(try row(tiny, "time").verdict == .inconclusive)
        #expect(try row(tiny, "time").ratioLow == nil)
        let ofTime = Comparison.Question(Self.rule, for: ["time"])
        let noisy = try Comparison(sidesOf: sides(blocks: 15, slowdown: 1, noise: 0.5), question: ofTime)
        #expect(try row(noisy, "time").verdict == .inconclusive)
    }

    @Test("Several looks that may find a regression share alpha")
    func alphaOfLooks() throws {
        // The least p of 15 blocks is 2⁻¹⁴ = 6.1e-5.
        let rows = sides(blocks: 15, slowdown: 1.5)
        var question = Comparison.Question(FigureRule(maxRegression: 0.03, alpha: 1e-4), for: ["time"], phase: "total")
        #expect(try row(Comparison(sidesOf: rows, question: question), "time").verdict == .regression)
        question.stages = BlockStages.standard
        #expect(try row(Comparison(sidesOf: rows, question: question), "time").verdict == .inconclusive)
        #expect([1, 7, 15, 16, 26].map { BlockStages.looks([7, 15, 25], minBlocks: $0) } == [3, 3, 2, 1, 1])
        #expect(BlockStages.looks([], minBlocks: 15) == 1)
    }

    @Test("A pass spends at most its look's part of alpha: all looks together spend alpha")
    func alphaOfPasses() throws {
        let stages = BlockStages.standard
        for alpha in [0.3, 0.05, 0.01, 0.005, 1e-4, 1e-9] {
            let tails = stages.map { BlockStages.passTail(ofBlocks: $0, stages, alpha: alpha) }
            // A stage that cannot reach its tail does not spend it.
            let spent = zip(stages, tails).filter { exp2(-Double($0)) <= $1 }.map(\.1).reduce(0, +)
            #expect(spent <= alpha * (1 + 1e-12) && spent > alpha / 2, "\(alpha): \(tails)")
            #expect(tails.allSatisfy { $0 > 0 })
        }
        // Seven blocks screen at the default alpha too, with their whole range.
        func tail(_ blocks: Int, alpha: Double) -> Double {
            BlockStages.passTail(ofBlocks: blocks, stages, alpha: alpha)
        }
        #expect(tail(7, alpha: 0.01) == exp2(-7) && tail(15, alpha: 0.01) == (0.01 - exp2(-7)) / 3)
        #expect(tail(7, alpha: 0.05) == 0.0125)
        // With a lost block, the stage's own tail; with more blocks than the last stage, that stage's tail.
        #expect(tail(14, alpha: 0.05) == tail(15, alpha: 0.05) && tail(41, alpha: 0.05) == tail(40, alpha: 0.05))
        #expect(BlockStages.passTail(ofBlocks: 7, [], alpha: 0.05) == 0.05)
    }

    @Test("A judged interval has the end that a pass depends on at its part of alpha, the other at 2.5 %")
    func tailsOfPasses() throws {
        let rows = sides(blocks: 15, slowdown: 1)
        func interval(_ metric: String, _ stages: [Int], alpha: Double?) throws -> ClosedRange<Double> {
            var question = alpha.map { .init(FigureRule(maxRegression: 0.03, alpha: $0)) } ?? Comparison.Question()
            question.stages = stages
            let row = try row(Comparison(sidesOf: rows, question: question), metric)
            return log(try #require(row.ratioLow))...log(try #require(row.ratioHigh))
        }
        let plain = try interval("time", [], alpha: nil)
        #expect(try interval("time", [], alpha: 0.05) == plain)
        for stages in [[], BlockStages.standard] {
            let (time, rate) = (
                try interval("time", stages, alpha: 0.01), try interval("throughput_ops", stages, alpha: 0.01)
            )
            #expect(time.lowerBound == plain.lowerBound && time.upperBound > plain.upperBound)
            #expect(abs(rate.lowerBound + time.upperBound) < 1e-9 && abs(rate.upperBound + time.lowerBound) < 1e-9)
        }
        let (staged, once) = (
            try interval("time", BlockStages.standard, alpha: 0.01), try interval("time", [], alpha: 0.01)
        )
        #expect(staged.upperBound > once.upperBound)
    }

    @Test("No noise widens the margin of the rule: a stall that lengthens scattered times to 1.42 is a regression")
    func marginOfRule() throws {
        let rows = sides(blocks: 20, slowdown: 1.42, noise: 0.1)
        let time = try row(Comparison(sidesOf: rows, question: question), "time")
        #expect(try time.verdict == .regression && abs(#require(time.threshold) - 0.03) < 1e-12)
        #expect(try #require(time.ratioHigh) / #require(time.ratioLow) > 1.05)
    }

    @Test("A worsening below the absolute floor passes, however certain")
    func absoluteFloor() throws {
        // 1000 operations in about a second: 6 % are 60 to 90 µs each.
        let question = Comparison.Question(FigureRule(maxRegression: 0.03, minAbsolute: 1e6))
        #expect(
            try row(Comparison(sidesOf: sides(blocks: 20, slowdown: 1.06), question: question), "time").verdict == .pass
        )
    }

    @Test("Runs at different times: times drift apart, the ratio to Dispatch does not")
    func ratioAcrossRuns() throws {
        func run(_ id: String, machine: Double, seed: UInt64) -> [SampleRow] {
            var generator = SplitMix64(seed: seed)
            var rows = Rows()
            for block in 0..<20 {
                for backend in [BackendID.engine, .dispatch] {
                    let noise = Double.random(in: 0.99...1.01, using: &generator)
                    rows.addThroughput(
                        backend, block: block, seconds: machine * noise * (backend == .engine ? 0.5 : 1), run: id)
                }
            }
            return rows.rows
        }
        let comparison = try Comparison(
            base: run("a", machine: 1, seed: 1), head: run("b", machine: 1.25, seed: 2), question: question)
        #expect(try row(comparison, "time").verdict == .inconclusive)
        let ratio = try row(comparison, "time_ratio")
        #expect(ratio.verdict == .pass)
        #expect(ratio.backend == .engine)
        #expect(abs(try #require(ratio.base) - 0.5) < 0.01)
        #expect(!comparison.rows.contains { $0.metric == "time_ratio" && $0.backend == .dispatch })
    }

    @Test("Runs at different times on busy machines: the CPU time relative to Dispatch shows 30 % more work")
    func cpuTimeAcrossRuns() throws {
        func run(_ id: String, work: Double, machine: Double, seed: UInt64) -> [SampleRow] {
            var generator = SplitMix64(seed: seed)
            var rows = Rows()
            for block in 0..<15 {
                for (backend, own) in [(BackendID.engine, work), (.dispatch, 1.5)] {
                    let cpu = 1e6 * machine * own * Double.random(in: 0.98...1.02, using: &generator)
                    rows.add(
                        backend, kind: "throughput", block: block, run: id,
                        figures: [
                            (.time, "total", "total", "", cpu * Double.random(in: 1...4, using: &generator), 1000),
                            (.cpuTime, "total", "total", "", cpu, 1000),
                        ])
                }
            }
            return rows.rows
        }
        let base = run("a", work: 1, machine: 1, seed: 1)
        for (work, expected) in [(1.3, Verdict.regression), (1, .pass), (0.7, .improved)] {
            let comparison = try Comparison(
                base: base, head: run("b", work: work, machine: 1.25, seed: 2),
                question: .init(.standard))
            let ratio = try row(comparison, "cpu_time_ratio")
            #expect(ratio.verdict == expected && ratio.backend == .engine)
            #expect(try row(comparison, "cpu_time").verdict == .unjudged)
        }
    }

    /// The allocations of rounds of 100 operations.
    private func counts(_ base: [Double], _ head: [Double], metric: Metric = .allocations) -> [SampleRow] {
        var rows = Rows()
        for (side, counts) in [("base", base), ("head", head)] {
            for (block, count) in counts.enumerated() {
                rows.add(
                    kind: "allocations", block: block, side: side,
                    figures: [(metric, "total", "total", "", count, 100)])
            }
        }
        return rows.rows
    }

    @Test(
        "Counts are judged by the least that two samples of each side agree on; scatter makes no verdict but a pass",
        arguments: [
            ([200, 200], [200, 200], .pass), ([200, 200], [300, 300], .regression),
            ([300, 300], [200, 200], .improved),
            ([200, 200], [215, 215], .pass), ([200, 210], [300, 310], .regression),
            // A side scatters, and the counts on which two agree are equal; or they differ, in either direction.
            ([200, 300, 200], [200, 200], .pass), ([300, 200, 200], [200, 300, 300, 200], .pass),
            ([200, 300, 200], [300, 300], .inconclusive), ([200, 200], [300, 200, 300], .inconclusive),
            ([300, 300], [200, 200, 300], .inconclusive), ([300, 200, 300], [200, 200], .inconclusive),
            // No other sample to agree with, or no agreement.
            ([200], [300], .inconclusive), ([200, 230], [300, 300], .inconclusive),
            ([200, 230], [200, 200], .inconclusive),
            // Threads begin within some rounds; then half as many allocations more.
            ([223, 339, 245, 223], [223, 245, 339, 223], .pass),
            ([223, 339, 245, 223], [334, 508, 367, 334], .inconclusive),
        ] as [([Double], [Double], Verdict)])
    func countsThatAgree(base: [Double], head: [Double], expected: Verdict) throws {
        let question = Comparison.Question(FigureRule(maxRegression: 0))
        let row = try row(Comparison(sidesOf: counts(base, head), question: question), "allocations")
        #expect(row.verdict == expected && row.ratioLow == nil && row.probability == nil)
        let fewest = min(base.count, head.count)
        let doubt = fewest < 2 ? Doubt.tooFewBlocks(1, enough: 2) : .scatter(blocks: fewest, enough: 15)
        #expect(row.doubt == (expected == .inconclusive ? doubt : nil))
    }

    @Test("A sample within the margin of the count on which two agree is no scatter")
    func scatterWithinMargin() throws {
        let question = Comparison.Question(FigureRule(maxRegression: 0.1))
        func verdict(_ base: [Double], _ head: [Double]) throws -> Verdict {
            try row(Comparison(sidesOf: counts(base, head), question: question), "allocations").verdict
        }
        #expect(try verdict([2000, 2000, 2150], [3000, 3000]) == .regression)
        #expect(try verdict([2000, 2000, 2250], [3000, 3000]) == .inconclusive)
        #expect(try verdict([2000, 2000], [3000, 3250, 3000]) == .inconclusive)
    }

    @Test("Scatter asks for more blocks, as many as a regression needs at least, and forty at most")
    func blocksOfScatter() throws {
        let question = Comparison.Question(FigureRule(maxRegression: 0, minBlocks: 10))
        for (blocks, enough) in [(3, 10), (7, 14), (30, 40), (40, nil)] as [(Int, Int?)] {
            let scattered = (0..<blocks).map { Double(200 + 100 * ($0 % 2)) }
            let head = Array(repeating: 250.0, count: blocks)
            let row = try row(Comparison(sidesOf: counts(scattered, head), question: question), "allocations")
            #expect(row.doubt == .scatter(blocks: blocks, enough: enough), "\(blocks)")
        }
    }

    /// Counts of `thread_priority` from when its threads began within the round.
    private static let scattered: [Double] = [
        1563, 1457, 1580, 1581, 1637, 1485, 4125, 1368, 1345, 4934, 1902, 1715, 10710, 1701,
    ]

    @Test("Of counts that scatter, equal builds never fail, and builds that need half as much more never pass")
    func countsThatScatter() throws {
        let question = Comparison.Question(.standardForSides)
        var generator = SplitMix64(seed: 7)
        func verdicts(times factor: Double) throws -> Set<Verdict> {
            func side(_ factor: Double) -> [Double] {
                (0..<7).map { _ in (Self.scattered.randomElement(using: &generator)! * factor).rounded() }
            }
            return Set(
                try (0..<200).map { _ in
                    let rows = counts(side(1), side(factor))
                    return try row(Comparison(sidesOf: rows, question: question), "allocations").verdict
                })
        }
        #expect(try verdicts(times: 1).isSubset(of: [.pass, .inconclusive]))
        #expect(try verdicts(times: 1.5).isSubset(of: [.inconclusive]))
    }

    @Test(
        "Counts are compared as whole numbers: what is just within the slack or the margin passes",
        arguments: [
            1000, 3000, 7000, 20_000,
        ])
    func lastDigits(operations: Int) throws {
        func failing(_ rule: FigureRule, from base: some Sequence<Int>, to head: (Int) -> Int) throws -> Int {
            var rows = Rows()
            for count in base {
                for (side, own) in [("base", count), ("head", head(count))] {
                    for block in 0..<2 {
                        // One of two samples that agree just so, on either side.
                        let more = block == 0 ? 0 : 16
                        rows.add(
                            kind: "allocations", block: block, cell: "w n=\(count)", parameters: ["n": "\(count)"],
                            side: side,
                            figures: [(.allocations, "total", "total", "", Double(own + more), operations)])
                    }
                }
            }
            return try Comparison(sidesOf: rows.rows, question: .init(rule)).rows
                .count { $0.verdict != .pass }
        }
        let counts = stride(from: operations, to: 3 * operations, by: operations / 200 + 1)
        #expect(try failing(FigureRule(maxRegression: 0), from: counts) { $0 + 16 } == 0)
        #expect(
            try failing(FigureRule(maxRegression: 0, minAbsolute: 0.3), from: counts) { $0 + 3 * operations / 10 } == 0)
        let whole = stride(from: 1000, to: 30_000, by: 100)
        #expect(try failing(FigureRule(maxRegression: 0.29), from: whole) { $0 + 29 * $0 / 100 } == 0)
        #expect(try failing(FigureRule(maxRegression: 0.29), from: whole) { $0 + 29 * $0 / 100 + 1 } == 290)
    }

    @Test("Counts of cells with other parameters are compared per operation")
    func countsOfOtherCells() throws {
        var (base, head) = (Rows(), Rows())
        for block in 0..<2 {
            for (side, items, count) in [(0, 1000, 3000.0), (1, 3000, 9000)] {
                var rows = Rows()
                rows.add(
                    kind: "allocations", block: block, cell: "w items=\(items)", parameters: ["items": "\(items)"],
                    figures: [(.allocations, "total", "total", "", count, items)])
                if side == 0 { base.rows += rows.rows } else { head.rows += rows.rows }
            }
        }
        var question = Comparison.Question(FigureRule(maxRegression: 0))
        question.ignoredParameters = ["items"]
        let row = try row(Comparison(base: base.rows, head: head.rows, question: question), "allocations")
        #expect(row.verdict == .pass && row.base == 3 && row.head == 3 && row.ratio == 1)
    }

    @Test("The slack of counts applies per round: a twentieth of an allocation per operation is found")
    func slackOfRounds() throws {
        func verdict(_ operations: Int, more: Double) throws -> Verdict {
            var rows = Rows()
            for (side, more) in [("base", 0), ("head", more)] {
                for block in 0..<2 {
                    rows.add(
                        kind: "allocations", block: block, side: side,
                        figures: [
                            (.allocations, "total", "total", "", 2 * Double(operations) + more, operations)
                        ])
                }
            }
            let text = #"{"version": 1, "rules": [{"metric": "allocations", "max_regression": 0}]}"#
            let policy = try GatePolicy.decode(text: text, file: "gate.json")
            let question = Comparison.Question(policy)
            return try row(Comparison(sidesOf: rows.rows, question: question), "allocations").verdict
        }
        #expect(try verdict(100, more: 15) == .pass && verdict(40_000, more: 15) == .pass)
        #expect(try verdict(100, more: 100) == .regression && verdict(40_000, more: 2000) == .regression)
    }

    @Test(
        "The slack of instructions is a part of the count",
        arguments: [(20_190, .pass), (20_400, .regression)] as [(Double, Verdict)])
    func slackOfInstructions(head: Double, expected: Verdict) throws {
        let question = Comparison.Question(FigureRule(maxRegression: 0))
        let rows = counts([20_000, 20_100], [head, head], metric: .instructions)
        #expect(try row(Comparison(sidesOf: rows, question: question), "instructions").verdict == expected)
    }

    @Test("A build that leaks a few bytes per operation fails under the default policies", arguments: [true, false])
    func leak(isPaired: Bool) throws {
        func verdict(_ base: [Double], _ head: [Double]) throws -> Verdict {
            let rows = counts(base, head, metric: .unreleasedBytes)
            func run(_ side: String) -> [SampleRow] {
                rows.filter { $0.side == side }.map { row in
                    var row = row
                    row.side = ""
                    return row
                }
            }
            let policy = isPaired ? GatePolicy.standardForSides : .standard
            let question = Comparison.Question(policy)
            let comparison =
                isPaired
                ? try Comparison(sidesOf: rows, question: question)
                : try Comparison(base: run("base"), head: run("head"), question: question)
            return try row(comparison, "unreleased_bytes").verdict
        }
        #expect(try verdict([0, 0], [4800, 4800]) == .regression)
        #expect(try verdict([-64, 0], [4800, 4864]) == .regression)
        #expect(try verdict([0, 0], [0, 512]) == .pass)
        #expect(try verdict([4800, 4800], [0, 0]) == .improved)
    }

    @Test("Figures of one side only are missing; without a rule nothing is judged; neutral figures are left out")
    func missingAndUnjudged() throws {
        var (base, head) = (Rows(), Rows())
        for block in 0..<7 {
            base.addThroughput(block: block, seconds: 1, cell: "old")
            for rows in [0, 1] {
                if rows == 0 { base.addThroughput(block: block, seconds: 1, cell: "both", parameters: ["items": "1"]) }
                if rows == 1 { head.addThroughput(block: block, seconds: 9, cell: "both", parameters: ["items": "1"]) }
            }
        }
        let comparison = try Comparison(base: base.rows, head: head.rows)
        #expect(comparison.rows.filter { $0.cellID == "old" }.allSatisfy { $0.verdict == .missing })
        #expect(comparison.rows.filter { $0.cellID == "both" }.allSatisfy { $0.verdict == .unjudged })
        #expect(Set(comparison.rows.map(\.cellID)) == ["old", "both"])
        #expect(!comparison.rows.contains { $0.metric == "rounds" || $0.metric == "status" })
        #expect(comparison.rows.allSatisfy { $0.adjustedProbability == nil })
    }

    @Test("Cells that differ in an ignored parameter match")
    func ignoredParameters() throws {
        var (base, head) = (Rows(), Rows())
        for block in 0..<7 {
            base.addThroughput(block: block, seconds: 1, cell: "w", parameters: ["items": "1", "form": "block"])
            head.addThroughput(
                block: block, seconds: 1, cell: "w form=closure", parameters: ["items": "1", "form": "closure"])
        }
        let strict = try Comparison(base: base.rows, head: head.rows, question: question)
        #expect(strict.rows.allSatisfy { $0.verdict == .missing })
        var lenient = question
        lenient.ignoredParameters = ["form"]
        let matched = try Comparison(base: base.rows, head: head.rows, question: lenient)
        #expect(try row(matched, "time").ratio == 1)
        #expect(try row(matched, "time").cellID == "w form=closure")
    }

    @Test("Cells of one run that differ only in an ignored parameter are refused by name, on either side")
    func ignoredParametersOfOneRun() throws {
        func run(_ forms: [String], side: String = "") -> [SampleRow] {
            var rows = Rows()
            for form in forms {
                for block in 0..<7 {
                    rows.addThroughput(
                        block: block, seconds: 1, cell: "w form=\(form)", parameters: ["items": "1", "form": form],
                        side: side)
                }
            }
            return rows.rows
        }
        var question = question
        question.ignoredParameters = ["form"]
        let (one, both) = (run(["block"]), run(["block", "closure"]))
        for (base, head) in [(one, both), (both, one)] {
            let error = try #require(throws: InputError.self) {
                try Comparison(base: base, head: head, question: question)
            }
            #expect(["\"w form=block\"", "\"w form=closure\""].allSatisfy { error.message.contains($0) })
        }
        let sides = run(["block"], side: "base") + run(["block", "closure"], side: "head")
        #expect(throws: InputError.self) { try Comparison(sidesOf: sides, question: question) }
        question.ignoredParameters = []
        #expect(try Set(Comparison(base: both, head: both, question: question).rows.map(\.cellID)).count == 2)
    }

    @Test("Cells with the same parameters in a damaged file are distinguished by their ids")
    func twinsOfABrokenFile() throws {
        var rows = Rows()
        for block in 0..<7 {
            for cell in ["one", "other"] { rows.addThroughput(block: block, seconds: 1, cell: cell) }
        }
        let comparison = try Comparison(base: rows.rows, head: rows.rows, question: question)
        #expect(Set(comparison.rows.map(\.cellID)) == ["one", "other"])
        #expect(comparison.rows.allSatisfy { $0.verdict != .missing })
    }

    @Test("The more figures are judged, the more certain each has to be")
    func multiplicity() throws {
        let rows = sides(blocks: 20, slowdown: 1.06)
        let all = try row(Comparison(sidesOf: rows, question: question), "time")
        let one = try row(
            Comparison(sidesOf: rows, question: .init(Self.rule, for: ["time"], phase: "total")), "time")
        #expect(one.adjustedProbability == one.probability)
        #expect(try #require(all.adjustedProbability) > all.probability!)
    }

    @Test("compare.csv is read back as it was written")
    func roundTrip() throws {
        let rows = try Comparison(sidesOf: sides(blocks: 7, slowdown: 1.06), question: question).rows
        let doubtful = try #require(rows.firstIndex { $0.doubt != nil })
        let text = CSVFile.text(of: rows)
        let read = try CSVFile.rows(CompareRow.self, text: text, file: "compare.csv")
        #expect(read.map(\.reason) == rows.map { $0.doubt?.words ?? "" })
        #expect(read[doubtful].remedy == rows[doubtful].doubt?.remedy)
        #expect(CSVFile.text(of: read) == text)
        // The reason's type is not written.
        let settled = rows.indices.filter { rows[$0].doubt == nil }
        #expect(settled.map { read[$0] } == settled.map { rows[$0] } && !settled.isEmpty)
    }
}

import Glibc
import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

@Suite("Wall-clock times on a busy machine")
struct NoisyTimesTests {
    /// Two interleaved builds: the logarithms of their time ratios are spread evenly by `spread` around that of the
    /// slowdown; their CPU times hardly vary.
    ///
    /// - Parameters:
    ///   - cpuSlowdown: that of CPU time; nil for the same.
    ///   - flags: those of each sample.
    private func rows(
        slowdown: Double = 1, cpuSlowdown: Double? = nil, spread: Double, blocks: Int = 15,
        flags: (_ block: Int) -> [SampleFlag] = { _ in [] }
    ) -> [SampleRow] {
        var rows = Rows()
        for block in 0..<blocks {
            let place = 2 * Double(block) / Double(blocks - 1) - 1
            for (side, isHead) in [("base", 0.0), ("head", 1.0)] {
                let (own, cpu) = (exp(isHead * log(slowdown)), exp(isHead * log(cpuSlowdown ?? slowdown)))
                let time = own * exp(isHead * spread * place)
                rows.add(
                    kind: "throughput", block: block, side: side, flags: flags(block),
                    figures: [
                        (.time, "total", "total", "", 1e9 * time, 1000),
                        (.operationThroughput, "rate", "total", "", 1000 / time, 1000),
                        (.cpuTime, "total", "total", "", 1e9 * cpu * exp(isHead * 0.001 * place), 1000),
                    ])
            }
        }
        return rows.rows
    }

    private func judged(
        _ rows: [SampleRow], margin: Double = 0.03, judging metrics: [String] = ["time", "cpu_time"]
    ) throws -> [CompareRow] {
        let comparison = try Comparison(
            sidesOf: rows, question: .init(FigureRule(maxRegression: margin), for: metrics))
        return try ["time", "cpu_time"].map { metric in
            try #require(comparison.rows.first { $0.metric == metric && $0.phase == "total" })
        }
    }

    @Test("are left unjudged if CPU time is judged, and judged if the machine is quiet enough")
    func equal() throws {
        #expect(try judged(rows(spread: 0.7)).map(\.verdict) == [.unjudged, .pass])
        #expect(try judged(rows(spread: 0.01)).map(\.verdict) == [.pass, .pass])
    }

    @Test("stay inconclusive without CPU time: missing data never pass")
    func alone() throws {
        let alone = try judged(rows(spread: 0.7), judging: ["time"])
        #expect(alone.map(\.verdict) == [.inconclusive, .unjudged])
    }

    @Test("stay inconclusive if they show a worsening, and are a regression if it is certain")
    func worse() throws {
        let slower = rows(slowdown: exp(0.4), spread: 0.9)
        #expect(try judged(slower, margin: 0.2).map(\.verdict) == [.inconclusive, .regression])
        let certain = rows(slowdown: 2, spread: 0.7)
        #expect(try judged(certain).map(\.verdict) == [.regression, .regression])
    }

    private static let noisy: @Sendable (Int) -> [SampleFlag] = { _ in [.noisy] }

    /// An own thread pool beside compilers, at the same CPU time per operation, seemed 0.84 (0.76–0.93) times as slow as
    /// Dispatch, and was 1.07 times as slow on the quiet machine.
    @Test(
        "differ on a busy machine only if CPU time differs beyond the margin on the same side",
        arguments: [
            (0.84, 1.0, .inconclusive), (1.42, 1.0, .inconclusive), (0.84, 1.1, .inconclusive),
            (1.42, 0.9, .inconclusive), (1.42, 1.01, .inconclusive), (1.42, 1.1, .regression), (0.84, 0.9, .improved),
            (1.0, 1.0, .pass), (0.99, 1.0, .pass),
        ] as [(Double, Double, Verdict)])
    func beyondMargin(slowdown: Double, ofCPU: Double, expected: Verdict) throws {
        let busy = rows(slowdown: slowdown, cpuSlowdown: ofCPU, spread: 0.02, flags: Self.noisy)
        let metrics = ["throughput_ops", "time"]
        let comparison = try Comparison(
            sidesOf: busy, question: .init(FigureRule(maxRegression: 0.03), for: metrics))
        for metric in metrics {
            let row = try #require(comparison.rows.first { $0.metric == metric })
            #expect(row.verdict == expected && (row.doubt == .busyMachine) == (expected == .inconclusive), "\(metric)")
        }
    }

    @Test("are judged without CPU time where the machine was quiet in half of the samples, or the cell waits")
    func judgedAlone() throws {
        func verdict(_ flags: (_ block: Int) -> [SampleFlag]) throws -> Verdict {
            try judged(rows(slowdown: 1.42, cpuSlowdown: 1, spread: 0.02, blocks: 16, flags: flags))[0].verdict
        }
        #expect(try verdict { $0 < 9 ? [.noisy] : [] } == .inconclusive)
        #expect(try verdict { $0 < 8 ? [.noisy] : [] } == .regression)
        #expect(try verdict { _ in [.noisy, .waits] } == .regression)
        // Without CPU time nothing confirms them.
        let alone = rows(slowdown: 1.42, spread: 0.02, flags: Self.noisy).filter { $0.metric != "cpu_time" }
        let comparison = try Comparison(
            sidesOf: alone, question: .init(FigureRule(maxRegression: 0.03), for: ["time"]))
        #expect(comparison.rows.first { $0.metric == "time" }?.doubt == .busyMachine)
    }

    @Test("are those of the repetition, where a noisy sample was taken again")
    func repeated() throws {
        var rows = Rows()
        for block in 0..<15 {
            for (side, seconds) in [("base", 1.0), ("head", 1.42)] {
                for isRepeated in [false, true] {
                    rows.add(
                        kind: "throughput", block: block, side: side, flags: isRepeated ? [.rerun] : [.noisy],
                        repeats: isRepeated,
                        figures: [
                            (.time, "total", "total", "", seconds * 1e9, 1000),
                            (.cpuTime, "total", "total", "", 1e9, 1000),
                        ])
                }
            }
        }
        #expect(try judged(rows.rows)[0].verdict == .regression)
    }

    @Test("of runs apart are the ratios to Dispatch, for which the CPU time relative to Dispatch counts")
    func runsApart() throws {
        func run(_ id: String, time: Double, cpu: Double, flags: [SampleFlag] = [.noisy]) -> [SampleRow] {
            var rows = Rows()
            for block in 0..<15 {
                let noise = 1 + 0.001 * Double(block)
                for (backend, time, cpu) in [(BackendID.dispatch, 1, 1), (.engine, time * noise, cpu * noise)] {
                    rows.add(
                        backend, kind: "throughput", block: block, run: id, flags: flags,
                        figures: [
                            (.time, "total", "total", "", time * 1e9, 1000),
                            (.cpuTime, "total", "total", "", cpu * 1e9, 1000),
                        ])
                }
            }
            return rows.rows
        }
        func verdicts(_ base: [SampleRow], _ head: [SampleRow]) throws -> [Verdict] {
            let question = Comparison.Question(FigureRule(maxRegression: 0.05), for: BaselineRatio.names)
            let rows = try Comparison(base: base, head: head, question: question).rows
            return ["time_ratio", "cpu_time_ratio"].map { name in rows.first { $0.metric == name }!.verdict }
        }
        let (before, quiet) = (run("a", time: 0.5, cpu: 0.6), run("a", time: 0.5, cpu: 0.6, flags: []))
        #expect(try verdicts(before, run("b", time: 0.4, cpu: 0.6)) == [.inconclusive, .pass])
        #expect(try verdicts(before, run("b", time: 0.6, cpu: 0.7)) == [.regression, .regression])
        #expect(try verdicts(quiet, run("b", time: 0.4, cpu: 0.6)) == [.inconclusive, .pass])
        #expect(try verdicts(quiet, run("b", time: 0.4, cpu: 0.6, flags: [])) == [.improved, .pass])
    }

    @Test("of equal builds are neither red nor improved, whichever side gets the processors")
    func equalBuilds() throws {
        var generator = SplitMix64(seed: 3)
        var verdicts: [Verdict: Int] = [:]
        for _ in 0..<100 {
            let advantage = Double.random(in: -0.3...0.3, using: &generator)
            var rows = Rows()
            for block in 0..<15 {
                for side in ["base", "head"] {
                    let cpu = exp(Double.random(in: -0.05...0.05, using: &generator))
                    let wait = exp(side == "head" ? advantage + Double.random(in: -0.1...0.1, using: &generator) : 0)
                    rows.add(
                        kind: "throughput", block: block, side: side, flags: [.noisy],
                        figures: [
                            (.time, "total", "total", "", 1e9 * cpu * wait, 1000),
                            (.cpuTime, "total", "total", "", 1e9 * cpu, 1000),
                        ])
                }
            }
            verdicts[try judged(rows.rows)[0].verdict, default: 0] += 1
        }
        #expect(verdicts[.regression] == nil && verdicts[.improved] == nil, "\(verdicts)")
    }

    @Test("still report the worsening that they would have shown")
    func detected() throws {
        let time = try judged(rows(spread: 0.7))[0]
        let (high, detectable, most) = (
            try #require(time.ratioHigh), try #require(time.detectable), try #require(time.mostUnseen)
        )
        #expect(most == max(high - 1, detectable))
        #expect(try judged(rows(spread: 0.7), judging: []).allSatisfy { $0.mostUnseen == nil })
    }

    @Test("More blocks are taken only for cells that they are likely to decide")
    func openCells() throws {
        func open(spread: Double, blocks: Int) throws -> Set<String> {
            var policy = GatePolicy.standardForSides
            policy.rules.removeAll { $0.selector.metric == "cpu_time" }
            let comparison = SideComparison(.init(policy, stages: BlockStages.standard))
            return try comparison.openCells(rows(spread: spread, blocks: blocks))
        }
        // All open cells get the first fifteen: fewer predict nothing.
        #expect(try open(spread: 0.7, blocks: 7) == ["w"])
        #expect(try open(spread: 0.7, blocks: 15) == [])
        #expect(try open(spread: 0.04, blocks: 15) == ["w"])
        #expect(try open(spread: 0.01, blocks: 15) == [])
    }

    @Test("A repeat replaces the sample of its own flavour alone: memory has three in a block")
    func flavours() {
        func row(_ id: String, _ flags: [SampleFlag] = []) -> SampleRow {
            var row = SampleRow.blank
            (row.sampleID, row.cellID, row.flags) = (id, "w", flags)
            return row
        }
        let rows = [
            row("00000-allocations", [.noisy]), row("00001-heap"), row("00002-calls"),
            row("00000r-allocations", [.rerun]),
        ]
        #expect(SupersededSamples.ids(in: rows) == ["00000-allocations"])
        #expect(rows.allSatisfy { $0.kind == .memory })
    }
}

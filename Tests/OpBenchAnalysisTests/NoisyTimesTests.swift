import Glibc
import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

@Suite("Wall-clock times on a busy machine")
struct NoisyTimesTests {
    /// Two interleaved builds: the logarithms of their time ratios are spread evenly by `spread` around that of the
    /// slowdown; their CPU times hardly vary.
    private func rows(slowdown: Double = 1, spread: Double, blocks: Int = 15) -> [SampleRow] {
        var rows = Rows()
        for block in 0..<blocks {
            let place = 2 * Double(block) / Double(blocks - 1) - 1
            for (side, isHead) in [("base", 0.0), ("head", 1.0)] {
                let own = exp(isHead * log(slowdown))
                rows.add(
                    kind: "throughput", block: block, side: side,
                    figures: [
                        (.time, "total", "total", "", 1e9 * own * exp(isHead * spread * place), 1000),
                        (.cpuTime, "total", "total", "", 1e9 * own * exp(isHead * 0.001 * place), 1000),
                    ])
            }
        }
        return rows.rows
    }

    private func judged(
        _ rows: [SampleRow], margin: Double = 0.03, judging metrics: Set<String> = ["time", "cpu_time"]
    ) throws -> [CompareRow] {
        let comparison = try Comparison(
            sidesOf: rows,
            question: .init(rule: { metrics.contains($0.metric) ? FigureRule(maxRegression: margin) : nil }))
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
            let comparison = SideComparison(
                AppliedPolicy(policy, stages: BlockStages.standard))
            return try comparison.openCells(rows(spread: spread, blocks: blocks))
        }
        // All open cells get the first fifteen: fewer predict nothing.
        #expect(try open(spread: 0.7, blocks: 7) == ["w"])
        #expect(try open(spread: 0.7, blocks: 15) == [])
        #expect(try open(spread: 0.04, blocks: 15) == ["w"])
        #expect(try open(spread: 0.01, blocks: 15) == [])
    }
}

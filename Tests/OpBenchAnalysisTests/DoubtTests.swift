import Glibc
import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

/// Reasons of inconclusive verdicts, and the number of blocks that is said to be enough.
@Suite("Doubts")
struct DoubtTests {
    private static let rule = FigureRule(maxRegression: 0.05, minAbsolute: 1)

    private func judgement(
        _ interval: ClosedRange<Double>?, ratio: Double = 1.1, blocks: Int, p: Double? = 0,
        most: Int = BlockStages.mostOfRun, direction: Metric.Direction = .lower
    ) throws -> Judgement {
        var effect = try #require(Effect(pairs: [(base: 1, head: 1, unit: 0)]))
        effect.interval = interval.map { log($0.lowerBound)...log($0.upperBound) }
        (effect.shift, effect.blocks, effect.mostBlocks) = (log(ratio), blocks, most)
        let margin = Self.rule.margin(of: 1000, on: .ratio, direction: direction)
        return Self.rule.judgement(on: effect, margin: margin, adjustedProbability: p, direction: direction)
    }

    @Test("too few blocks: for an interval, and for a regression that the interval shows")
    func fewBlocks() throws {
        #expect(try judgement(nil, blocks: 2) == .inconclusive(.tooFewBlocks(2, enough: 15)))
        #expect(try judgement(1.06...1.2, blocks: 7) == .inconclusive(.tooFewBlocks(7, enough: 15)))
        #expect(try judgement(1.06...1.2, blocks: 15) == Judgement(verdict: .regression))
    }

    @Test("a wide interval: enough blocks to bring its end to the margin, as its width falls with their square root")
    func wideInterval() throws {
        // From 1 the margin is log 1.05 away, the interval reaches twice as far: four times as many blocks.
        let wide = 1 / exp(2 * log(1.05))...exp(2 * log(1.05))
        #expect(try judgement(wide, ratio: 1, blocks: 20) == .inconclusive(.wideInterval(blocks: 20, enough: 80)))
        #expect(
            try judgement(wide, ratio: 1, blocks: 20, direction: .higher)
                == .inconclusive(.wideInterval(blocks: 20, enough: 80)))
        // Beyond the margin, the near end has to reach it.
        let beyond = 1.05 * exp(-log(1.05))...2
        #expect(
            try judgement(beyond, ratio: exp(2 * log(1.05)), blocks: 20)
                == .inconclusive(.wideInterval(blocks: 20, enough: 80)))
        // Never fewer than the rule needs.
        #expect(try judgement(0.9...1.06, ratio: 1, blocks: 7) == .inconclusive(.wideInterval(blocks: 7, enough: 15)))
    }

    @Test("blocks do not decide a difference too near the margin; few blocks do not predict that")
    func tooNear() throws {
        #expect(
            try judgement(0.9...1.2, ratio: 1.05, blocks: 20) == .inconclusive(.wideInterval(blocks: 20, enough: nil)))
        #expect(
            try judgement(0.5...2, ratio: 1, blocks: 20, most: 40)
                == .inconclusive(.wideInterval(blocks: 20, enough: nil)))
        #expect(try judgement(0.5...2, ratio: 1, blocks: 7) == .inconclusive(.wideInterval(blocks: 7, enough: 15)))
    }

    @Test("a p-value that is not below alpha, or that the exact test cannot give")
    func probability() throws {
        #expect(
            try judgement(1.06...1.2, blocks: 15, p: 0.5) == .inconclusive(.likelyChance(blocks: 15, enough: 30)))
        #expect(
            try judgement(1.06...1.2, blocks: 40, p: 0.5, most: 40)
                == .inconclusive(.likelyChance(blocks: 40, enough: nil)))
        #expect(
            try judgement(1.06...1.2, blocks: 41, p: nil, most: 40) == .inconclusive(.tooManyBlocks(41, most: 40)))
    }

    /// Inversions of one round each, in two interleaved builds.
    private func counts(base: [Double], head: [Double]) throws -> CompareRow {
        var rows = Rows()
        for block in base.indices {
            for (side, values) in [("base", base), ("head", head)] {
                rows.add(
                    kind: "latency", block: block, side: side,
                    figures: [
                        (.inversions, "total", "", "", values[block], 10), (.rounds, "total", "", "", 1, 10),
                    ])
            }
        }
        let question = Comparison.Question(Self.rule)
        return try #require(Comparison(sidesOf: rows.rows, question: question).rows.first { $0.metric == "inversions" })
    }

    @Test(
        "counts from or to 0 have no ratio and are judged by their difference, in all or single blocks",
        arguments: [
            ([0], [0.5], .pass), ([3], [0], .improved), ([0], [3000], .regression), ([0], [0], .pass),
            ([0, 0, 0, 1], [3000], .regression), ([3000], [0, 1], .improved), ([0, 1], [0, 1], .pass),
            ([0], [0, 3, 3], .regression), ([0], [0, 0, 0, 0, 0, 0, 0, 3], .pass),
        ] as [([Double], [Double], Verdict)])
    func fromNothing(base: [Double], head: [Double], expected: Verdict) throws {
        func blocks(_ values: [Double]) -> [Double] { (0..<25).map { values[$0 % values.count] } }
        let row = try counts(base: blocks(base), head: blocks(head))
        #expect(row.verdict == expected && row.ratio == nil && row.doubt == nil && row.probability != nil)
    }

    @Test("a rise from 0 needs as many blocks as any other regression")
    func fewFromNothing() throws {
        func short(_ blocks: Int) throws -> CompareRow {
            try counts(base: Array(repeating: 0, count: blocks), head: Array(repeating: 3, count: blocks))
        }
        #expect(try short(2).doubt == .tooFewBlocks(2, enough: 15))
        #expect(try short(8).doubt == .tooFewBlocks(8, enough: 15))
        #expect(try short(15).verdict == .regression)
    }

    @Test("a count that is 0 on one side is judged in separate runs too")
    func fromNothingApart() throws {
        func run(_ count: Double) -> [SampleRow] {
            var rows = Rows()
            for block in 0..<15 {
                rows.add(
                    kind: "latency", block: block,
                    figures: [(.inversions, "total", "", "", count, 10), (.rounds, "total", "", "", 1, 10)])
            }
            return rows.rows
        }
        func verdict(_ base: Double, _ head: Double) throws -> Verdict? {
            try Comparison(base: run(base), head: run(head), question: .init(Self.rule)).rows
                .first { $0.metric == "inversions" }?.verdict
        }
        #expect(try verdict(0, 3000) == .regression)
        #expect(try verdict(0, 0) == .pass)
        #expect(try verdict(3000, 0) == .improved)
        #expect(try verdict(3, 3000) == .inconclusive)
    }

    @Test("a time of separate runs has the different times as its reason")
    func differentTimes() throws {
        func run(_ seconds: Double) -> [SampleRow] {
            var rows = Rows()
            for block in 0..<20 { rows.addThroughput(block: block, seconds: seconds) }
            return rows.rows
        }
        let question = Comparison.Question(Self.rule)
        let comparison = try Comparison(base: run(1), head: run(1.2), question: question)
        let doubts = comparison.rows.filter { $0.verdict == .inconclusive }.map(\.doubt)
        #expect(!doubts.isEmpty && doubts.allSatisfy { $0 == .differentTimes })
    }
}

import Glibc
import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

@Suite("Layouts as units of replication, and the sources of variance")
struct LayoutTests {
    @Test("Blocks of one layout count once, with the mean of their shifts")
    func units() throws {
        let ratios = [1.1, 1.3, 0.9, 1.2, 1.0, 1.4]
        let pairs = ratios.enumerated().flatMap { unit, ratio in
            [0.8, 1.25].map { (base: 2.0, head: 2 * ratio * $0, unit: unit) }
        }
        let single = ratios.enumerated().map { (base: 1.0, head: $1, unit: $0) }
        let (repeated, once) = (try #require(Effect(pairs: pairs)), try #require(Effect(pairs: single)))
        #expect(repeated.blocks == 6 && abs(repeated.shift - once.shift) < 1e-12)
        #expect(repeated.probability == once.probability)
        let (own, other) = (try #require(repeated.interval), try #require(once.interval))
        #expect(abs(own.lowerBound - other.lowerBound) < 1e-12 && abs(own.upperBound - other.upperBound) < 1e-12)
        // Separate runs.
        let apart = try #require(
            Effect(base: pairs.map { ($0.base, $0.unit) }, head: pairs.map { ($0.head, $0.unit) }))
        let apartOnce = try #require(
            Effect(base: single.map { ($0.base, $0.unit) }, head: single.map { ($0.head, $0.unit) }))
        #expect(apart.blocks == 6 && abs(apart.shift - apartOnce.shift) < 1e-12)
    }

    /// A run of one build against itself, whose layouts differ by `deviation`.
    private func run(layouts: Int, uses: Int, deviation: Double, noise: Double, seed: UInt64) -> [SampleRow] {
        var generator = SplitMix64(seed: seed)
        func normal() -> Double {
            (-2 * log(Double.random(in: 1e-12..<1, using: &generator))).squareRoot()
                * cos(2 * .pi * Double.random(in: 0..<1, using: &generator))
        }
        let effects = (0..<2 * layouts).map { _ in deviation * normal() }
        var rows = Rows()
        for block in 0..<layouts * uses {
            let drift = 0.1 * normal()
            for (side, offset) in [("base", 0), ("head", 1)] {
                let layout = 2 * (block % layouts) + offset
                rows.addThroughput(
                    block: block, seconds: exp(drift + effects[layout] + noise * normal()), rounds: 100, side: side,
                    layout: layout, spread: 0.05)
            }
        }
        return rows.rows
    }

    @Test("Fifteen layouts keep the error rate that fifteen blocks of one layout exceed")
    func falseAlarms() throws {
        var alarms = (layouts: 0, blocks: 0)
        for seed in 0..<100 {
            let rows = run(layouts: 15, uses: 1, deviation: 0.05, noise: 0.01, seed: UInt64(seed))
            let fixed = run(layouts: 1, uses: 15, deviation: 0.05, noise: 0.01, seed: UInt64(seed)).map { row in
                var row = row
                row.layout = nil
                return row
            }
            for (rows, isFixed) in [(rows, false), (fixed, true)] {
                let comparison = try Comparison(sidesOf: rows)
                let time = try #require(comparison.rows.first { $0.metric == "time" && $0.phase == "total" })
                guard try #require(time.probability) < 0.05 else { continue }
                if isFixed { alarms.blocks += 1 } else { alarms.layouts += 1 }
            }
        }
        // 0.05 of 100, and five standard deviations more.
        #expect(alarms.layouts < 16)
        #expect(alarms.blocks > 60)
    }

    @Test("The components are those of scipy's analysis of variance")
    func reference() throws {
        // Ten pairs in four layouts of unequal use: MSB = F · MSW, with F from scipy.stats.f_oneway of the differences.
        let base = [1.02, 0.97, 1.10, 1.05, 0.99, 1.01, 1.07, 0.95, 1.03, 1.00]
        let head = [1.08, 1.01, 1.09, 1.02, 1.11, 1.12, 1.10, 0.99, 1.01, 0.98]
        let units = [0, 0, 1, 1, 2, 2, 2, 3, 3, 3]
        let pairs = zip(zip(base, head), units).map { (base: $0.0, head: $0.1, unit: $1) }
        let components = try #require(VarianceComponents(pairs: pairs, roundVariance: 1e-5))
        #expect(abs(components.processes + 1e-5 - 0.0006076191934452109) < 1e-9)
        #expect(components.rounds == 1e-5)
        #expect(abs(try #require(components.layouts) - 0.0008471892578005001) < 1e-9)
        #expect(abs(components.blocks - 0.0010036335277557734) < 1e-9)
    }

    @Test("The components of a known mixture are found, and the main one is named")
    func components() throws {
        let rows = run(layouts: 40, uses: 2, deviation: 0.03, noise: 0.01, seed: 1)
        let found = try #require(VarianceFinding.all(of: rows).first)
        #expect(VarianceFinding.all(of: rows).count == 1 && found.backend == .engine)
        let layouts = try #require(found.components.layouts)
        #expect((0.02...0.04).contains(layouts.squareRoot()))
        #expect((0.005...0.015).contains(found.components.processes.squareRoot()))
        // A spread of 5 % over 100 rounds.
        #expect(abs(try #require(found.components.rounds) - 25e-6) < 1e-12)
        #expect((0.07...0.13).contains(found.components.blocks.squareRoot()))
        let main = try #require(VarianceFinding.main(of: [found]))
        #expect(main.source == .layouts && main.share > 0.7)
        // One use of each layout cannot tell layouts from processes.
        let single = run(layouts: 15, uses: 1, deviation: 0.03, noise: 0.01, seed: 1)
        #expect(VarianceFinding.all(of: single).isEmpty)
        #expect(VarianceFinding.all(of: single.filter { $0.side == "base" }).isEmpty)
    }
}

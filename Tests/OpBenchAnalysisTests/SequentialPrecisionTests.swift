import Foundation
import OpBenchModel
import Testing

@testable import OpBenchAnalysis

/// The coverage of intervals at which `run --precision` stops: those of forged samples whose truth is known.
@Suite("Intervals of runs for a precision", .serialized)
struct SequentialPrecisionTests {
    enum Kind: CaseIterable {
        case normal, skewed

        /// A figure around 1 with a spread of 4 %, whose median is `truth`.
        func value(_ generator: inout SplitMix64) -> Double {
            let normal = (-2 * log(1 - generator.unit())).squareRoot() * cos(2 * .pi * generator.unit())
            switch self {
            case .normal: return 1 + 0.04 * normal
            // Exponential beyond 1, as delays are.
            case .skewed: return 1 - 0.04 * log(1 - generator.unit())
            }
        }

        var truth: Double { self == .normal ? 1 : 1 + 0.04 * log(2) }
    }

    /// The outcomes of runs that begin with seven blocks and stop at a width, or at fifty.
    struct Outcome {
        var covered = 0
        var early = 0
        var below = 0
        var estimates = 0.0
    }

    private func outcome(
        _ runs: Int, seed: UInt64, draw: (inout SplitMix64) -> Double, truth: Double,
        estimate: ([Double]) -> Double?, interval: ([Double]) -> ClosedRange<Double>?
    ) throws -> Outcome {
        var generator = SplitMix64(seed: seed)
        var outcome = Outcome()
        for _ in 0..<runs {
            var values = (0..<7).map { _ in draw(&generator) }
            while true {
                let (value, ends) = (try #require(estimate(values)), try #require(interval(values)))
                let isNarrow = max(ends.upperBound - value, value - ends.lowerBound) <= 0.02 * value
                if !isNarrow, values.count < 50 {
                    values.append(draw(&generator))
                    continue
                }
                if isNarrow { outcome.early += 1 }
                if ends.contains(truth) { outcome.covered += 1 }
                if value < truth { outcome.below += 1 }
                outcome.estimates += value / Double(runs)
                break
            }
        }
        return outcome
    }

    /// The guide HowFarToTrustIt states the coverage.
    @Test("the interval of the median holds the truth in nine of ten runs", arguments: Kind.allCases)
    func medians(kind: Kind) throws {
        let runs = 1000
        let found = try outcome(
            runs, seed: 11, draw: kind.value, truth: kind.truth, estimate: { median($0) },
            interval: { medianInterval(of: $0) })
        #expect(found.early > runs / 2, "\(found)")
        #expect(found.covered >= runs * 9 / 10, "\(found)")
        #expect(abs(found.estimates - kind.truth) < 0.005 && abs(found.below - runs / 2) < runs / 10, "\(found)")
    }

    /// The guide HowFarToTrustIt states how often they miss it.
    @Test(
        "if the machine drifts, the intervals of times miss the truth, which those of ratios hold as before",
        arguments: [(0.5, 18...33), (0.95, 64...84)] as [(Double, ClosedRange<Int>)])
    func drift(likeness: Double, missed: ClosedRange<Int>) throws {
        let runs = 500
        var level = 0.0
        // Each block's speed has a part of the one before.
        func next(_ generator: inout SplitMix64) -> Double {
            let own = Kind.normal.value(&generator) - 1
            level = likeness * level + (1 - likeness * likeness).squareRoot() * own
            return level
        }
        let times = try outcome(
            runs, seed: 13, draw: { exp(next(&$0)) }, truth: 1, estimate: { median($0) },
            interval: { medianInterval(of: $0) })
        #expect(missed.contains((runs - times.covered) * 100 / runs), "\(times)")
        let ratios = try outcome(
            200, seed: 14,
            draw: { generator in
                let drift = next(&generator)
                let (own, other) = (Kind.normal.value(&generator) - 1, Kind.normal.value(&generator) - 1)
                return 1 + (drift + own) - (drift + other)
            }, truth: 1, estimate: { hodgesLehmann($0) }, interval: { hodgesLehmannInterval(of: $0) })
        #expect(ratios.covered >= 180, "\(ratios)")
    }

    @Test("the interval of the ratios holds the truth in nine of ten runs")
    func ratios() throws {
        let runs = 200
        // The logarithms of the ratios; equal noise on both sides makes them symmetric.
        let found = try outcome(
            runs, seed: 12, draw: { log(Kind.skewed.value(&$0) / Kind.skewed.value(&$0)) + 1 }, truth: 1,
            estimate: { hodgesLehmann($0) }, interval: { hodgesLehmannInterval(of: $0) })
        #expect(found.early > runs / 2 && found.covered >= runs * 9 / 10, "\(found)")
        #expect(abs(found.estimates - 1) < 0.005, "\(found)")
    }
}

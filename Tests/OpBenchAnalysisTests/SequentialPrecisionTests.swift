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

    /// A machine whose speed drifts: each block's speed has seven tenths of the one before.
    struct Drift {
        private var level = 0.0

        mutating func next(_ generator: inout SplitMix64) -> Double {
            level = 0.7 * level + (1 - 0.7 * 0.7).squareRoot() * (Kind.normal.value(&generator) - 1)
            return exp(level)
        }
    }

    @Test("if the machine drifts, the intervals of times miss the truth more often than those of ratios")
    func drift() throws {
        let runs = 300
        var drift = Drift()
        let times = try outcome(
            runs, seed: 13, draw: { drift.next(&$0) * exp(0.01 * (Kind.normal.value(&$0) - 1)) }, truth: 1,
            estimate: { median($0) }, interval: { medianInterval(of: $0) })
        #expect(times.covered < runs * 85 / 100, "\(times)")
        // The drift of a block is the same on both sides.
        let ratios = try outcome(
            runs, seed: 14, draw: { Kind.normal.value(&$0) - Kind.normal.value(&$0) + 1 }, truth: 1,
            estimate: { hodgesLehmann($0) }, interval: { hodgesLehmannInterval(of: $0) })
        #expect(ratios.covered >= runs * 9 / 10, "\(ratios)")
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

import Foundation
import OpBenchModel
import Testing

@testable import OpBenchAnalysis

@Suite("Two modes")
struct TwoModesTests {
    @Test(
        "two modes are two groups far apart, each of a sixth of the values and of two at least",
        arguments: [
            ([100, 101, 102, 150, 151, 152, 153], Modes(low: 101, high: 151.5, highSamples: 4)),
            ([100, 100, 100, 103, 103, 103, 103], Modes()), ([100, 101, 102, 103, 104, 105, 150], Modes()),
            ([100, 110, 120, 150, 160, 170, 180], Modes()), ([100, 100, 200, 200, 200], Modes()),
            ([100, 100, 200, 200, 200, 200], Modes(low: 100, high: 200, highSamples: 4)), ([], Modes()),
            ([0, -1, .infinity, 100, 100, 100, 200, 200, 200], Modes(low: 100, high: 200, highSamples: 3)),
            ([5, 5, 5, 5, 5, 5, 5], Modes()),
        ] as [([Double], Modes)])
    func groups(values: [Double], expected: Modes) {
        #expect((twoModes(of: values) ?? Modes()) == expected)
        #expect((twoModes(of: values.reversed()) ?? Modes()) == expected)
    }

    /// Noise of one mode, wide enough that no gap is too small to matter.
    enum Kind: CaseIterable {
        case normal, lognormal, heavyTailed, uniform, exponential

        func values(_ count: Int, _ generator: inout SplitMix64) -> [Double] {
            func normal() -> Double {
                (-2 * log(1 - generator.unit())).squareRoot() * cos(2 * .pi * generator.unit())
            }
            return (0..<count).map { _ in
                switch self {
                case .normal: 1000 + 100 * normal()
                case .lognormal: exp(normal())
                // Student's t with two degrees of freedom, of the logarithms.
                case .heavyTailed: exp(normal() / sqrt((pow(normal(), 2) + pow(normal(), 2)) / 2))
                case .uniform: 1 + generator.unit()
                case .exponential: 1 - log(1 - generator.unit())
                }
            }
        }
    }

    @Test("fewer than one in a hundred samples of a single mode seem to have two", arguments: Kind.allCases)
    func falseAlarms(kind: Kind) {
        for count in [7, 15, 40] {
            var generator = SplitMix64(seed: UInt64(count))
            let found = (0..<2000).count { _ in twoModes(of: kind.values(count, &generator)) != nil }
            #expect(found < 20, "\(kind), \(count) values: \(found) of 2000")
        }
    }

    @Test("modes far apart are found, more samples need less")
    func power() {
        for (count, deviations) in [(7, 20.0), (15, 11), (40, 8)] {
            var generator = SplitMix64(seed: UInt64(count))
            let found = (0..<500).count { _ in
                let noise = Kind.normal.values(count, &generator).map { ($0 - 1000) / 1000 }
                return twoModes(of: noise.enumerated().map { 3 + $1 + ($0 % 2 == 0 ? deviations / 10 : 0) }) != nil
            }
            #expect(found > 450, "\(count) values: \(found) of 500")
        }
    }
}

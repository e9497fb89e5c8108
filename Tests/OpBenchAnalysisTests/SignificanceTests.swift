import OpBenchModel
import Testing

@testable import OpBenchAnalysis

/// Reference values are from scipy 1.17 (`permutation_test`, `mannwhitneyu`, `binomtest().proportion_ci`) unless a test
/// counts by hand.
@Suite("Significance")
struct SignificanceTests {
    // MARK: Sign flips

    @Test(
        "Sign flips against scipy and by hand",
        arguments: [
            ([0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01], 0.02734375),
            ([0.05, 0.02, -0.01, 0.03, 0.04, 0.01, 0.06], 0.046875),
            ([1, 1, 1, 1, 1], 2.0 / 32), ([3], 1), ([1, -1], 1), ([0, 0, 0], 1),
            // The sums of ± 1 ± 2 ± 3 that are ≥ 4 are 6 and 4.
            ([-1, 2, 3], 4.0 / 8),
        ] as [([Double], Double)])
    func signFlips(differences: [Double], expected: Double) throws {
        let probability = try #require(signFlipTest(differences))
        #expect(abs(probability - expected) < 1e-12)
    }

    @Test("Sign flips against a count of all patterns", arguments: 1...30)
    func signFlipsByEnumeration(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let differences = (0..<Int.random(in: 1...11, using: &generator)).map { _ in
            (Double.random(in: -2...3, using: &generator) * 4).rounded() / 4
        }
        let observed = abs(differences.reduce(0, +))
        let reaching = (0..<1 << differences.count).count { pattern in
            let sum = differences.enumerated().reduce(0) { $0 + (pattern >> $1.offset & 1 == 0 ? 1 : -1) * $1.element }
            return abs(sum) >= observed
        }
        #expect(signFlipTest(differences) == Double(reaching) / Double(1 << differences.count))
    }

    @Test("Sign flips refuse no values and too many, and support every plan of blocks")
    func signFlipLimits() throws {
        #expect(signFlipTest([]) == nil)
        #expect(signFlipTest(Array(repeating: 1, count: signFlipLimit + 1)) == nil)
        let smallest = try #require(signFlipTest(Array(repeating: 1, count: 25)))
        #expect(smallest == 2.0 / Double(1 << 25))
    }

    // MARK: Mann–Whitney

    @Test(
        "Mann–Whitney, exact, against scipy; with ties against a count of all subsets",
        arguments: [
            ([19, 22, 16, 29, 24], [20, 11, 17, 12], 0.1111111111111111),
            ([1, 2, 3, 4, 5, 6, 7], [5.5, 6.5, 7.5, 8, 9, 10, 11, 12], 0.0021756021756021756),
            ([1, 2, 2, 3, 5], [2, 3, 3, 4, 6, 7], 0.170995670995671),
            ([1, 1, 1, 2], [2, 2, 3, 3, 3], 0.047619047619047616),
            ([4, 4], [4, 4, 4], 1),
        ] as [([Double], [Double], Double)])
    func mannWhitney(first: [Double], second: [Double], expected: Double) throws {
        let probability = try #require(mannWhitneyTest(first, second))
        #expect(abs(probability - expected) < 1e-12)
        #expect(abs(try #require(mannWhitneyTest(second, first)) - expected) < 1e-12)
    }

    @Test("Mann–Whitney of large samples against scipy's approximation with ties and continuity")
    func mannWhitneyApproximation() throws {
        let first = [
            0.3, 0.8, 0.3, -1.3, 0.9, 0.4, -0.5, 0.6, 0.4, 0.3, 0.0, 0.5, -0.7, -0.2, -0.5, 0.6, 0.0, -0.3, -0.8, -0.3,
            0.0, -0.3, 1.3, 1.0, -2.7, -1.9, -0.2, -0.4, 0.2, 0.2, 2.1, -1.1, -0.4, 2.0, 0.6, 0.7, -0.5, -1.6, 0.2, 0.1,
        ]
        let second = [
            -0.8, -0.3, 0.3, -0.5, 0.3, 0.5, 0.4, -0.1, 1.0, 1.3, 0.7, -0.4, 1.1, -0.1, 1.3, -0.7, 1.3, 0.4, -0.8, 0.1,
            0.5, 0.7, -0.6, -0.7, 0.6, -0.1, 0.6, 1.2, -1.2, 0.7, 1.6, 0.1, -0.4, 1.2, 0.7, 1.3, 0.1, -1.1, 0.3, 0.0,
            1.2, 0.6, -1.2, -0.8, 1.3,
        ]
        #expect(first.count + second.count > exactMannWhitneyLimit)
        #expect(abs(try #require(mannWhitneyTest(first, second)) - 0.1760746355122682) < 1e-12)
        #expect(mannWhitneyTest([], [1]) == nil)
        let equal = Array(repeating: 5.0, count: 50)
        #expect(mannWhitneyTest(equal, equal) == 1)
    }

    @Test("A shift between samples is the median of the differences", arguments: 1...20)
    func shift(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let first = (0..<7).map { _ in Double.random(in: 0...1, using: &generator) }
        let second = (0..<9).map { _ in Double.random(in: 0...1, using: &generator) }
        let shift = try #require(hodgesLehmannShift(from: first, to: second))
        #expect(abs(try #require(hodgesLehmannShift(from: first, to: second.map { $0 + 2 })) - shift - 2) < 1e-12)
        #expect(abs(try #require(hodgesLehmannShift(from: second, to: first)) + shift) < 1e-12)
        #expect(hodgesLehmannShift(from: [], to: second) == nil)
        #expect(hodgesLehmannShift(from: [1, 2], to: [5, 9]) == 5.5)
    }

    // MARK: Several tests, and proportions

    @Test("Holm by hand: in order, never decreasing, at most 1")
    func holm() {
        #expect(holmAdjusted([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06])
        #expect(holmAdjusted([0.5, 0.9, 0.6]) == [1, 1, 1])
        #expect(holmAdjusted([]) == [])
        #expect(holmAdjusted([0.2]) == [0.2])
    }
}

import OpBenchModel
import Testing

@testable import OpBenchRunner

@Suite struct SteadinessTests {
    private func steadiness(_ times: some Sequence<Int64>) -> Steadiness {
        var steadiness = Steadiness()
        for time in times { steadiness.add(time) }
        return steadiness
    }

    @Test func `a straight rise is reported in full, however many rounds there are`() throws {
        for count: Int64 in [8, 20, 63] {
            let rising = steadiness((0..<count).map { 1_000_000 + $0 * 500_000 / (count - 1) })
            #expect(abs(try #require(rising.trend) - 0.4) < 0.02)
            #expect(rising.isUnsteady)
        }
        for count: Int64 in [64, 1000, 5000] {
            let rising = steadiness((0..<count).map { 1_000_000 + $0 * 500_000 / (count - 1) })
            #expect(abs(try #require(rising.trend) - 0.4) < 0.04)
            #expect(rising.isUnsteady)
        }
    }

    @Test func `the median of an even number of rounds is the mean of the two middle ones`() throws {
        let step = steadiness([10, 10, 10, 10, 20, 20, 20, 20])
        // The median of the slopes of all 28 pairs, over 7 steps, relative to the median round.
        #expect(abs(try #require(step.trend) - 5.0 / 3 * 7 / 15) < 1e-12)
    }

    @Test func `a fall is also a trend`() throws {
        let falling = steadiness((0..<20).map { 2_000_000 - Int64($0) * 50_000 })
        #expect(try #require(falling.trend) < -0.4)
        #expect(falling.isUnsteady)
    }

    @Test func `few rounds show nothing, and a small trend does not matter`() {
        #expect(steadiness([1, 2, 3, 4, 5, 6, 7]).trend == nil)
        #expect(!steadiness([1, 2, 3, 4, 5, 6, 7]).isUnsteady)
        #expect(!steadiness((0..<40).map { 1_000_000 + Int64($0) * 2000 }).isUnsteady)
    }

    @Test func `one disturbed round is not a trend`() throws {
        var times = [Int64](repeating: 1_000_000, count: 20)
        times[19] = 90_000_000
        #expect(try #require(steadiness(times).trend) == 0)
    }

    @Test func `noise without a trend is rarely mistaken for one`() {
        var generator = SplitMix64(seed: 7)
        let flagged = (0..<1000).count { _ in
            steadiness((0..<30).map { _ in 1_000_000 + Int64(generator.unit() * 2_000_000) }).isUnsteady
        }
        #expect(flagged <= 20)
    }
}

import OpBenchModel
import Testing

@testable import OpBenchRunner

@Suite struct RoundSpreadTests {
    private func spread(_ times: [Int64]) -> Double? {
        var spread = RoundSpread()
        for time in times { spread.add(time) }
        return spread.value
    }

    @Test func `it is the standard deviation of the rounds divided by their mean`() throws {
        // Mean 5, squared differences 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, over 7.
        #expect(abs(try #require(spread([2, 4, 4, 4, 5, 5, 7, 9])) - (32.0 / 7).squareRoot() / 5) < 1e-12)
        #expect(spread([7, 7, 7]) == 0)
    }

    @Test func `a large mean does not hide a small spread`() throws {
        let times = (0..<1000).map { 1_000_000_000_000 + Int64($0 % 2) * 2 }
        let expected = (1000.0 / 999).squareRoot() / 1_000_000_000_001
        #expect(abs(try #require(spread(times)) / expected - 1) < 1e-3)
    }

    @Test func `fewer than two rounds have none`() {
        #expect(spread([]) == nil && spread([5]) == nil)
    }
}

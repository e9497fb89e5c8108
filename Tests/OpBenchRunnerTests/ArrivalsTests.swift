import OpBenchModel
import Testing

@testable import OpBenchRunner

@Suite struct ArrivalsTests {
    private func instants(_ parameters: String) throws -> [Int64] {
        guard case .arrivals(let instants) = try Fixture.plan("open_loop", parameters).pacing else {
            Issue.record("no open loop")
            return []
        }
        return instants
    }

    private func gaps(_ instants: [Int64]) -> [Double] { zip(instants.dropFirst(), instants).map { Double($0 - $1) } }

    @Test func `constant arrivals fill the duration with equal gaps`() throws {
        let found = try instants(#"{"rate": 4000, "duration_ns": 50000000, "arrivals": "constant"}"#)
        #expect(found == Array(stride(from: Int64(0), to: 50_000_000, by: 250_000)))
    }

    @Test func `a rate that does not divide a second does not drift`() throws {
        let found = try instants(#"{"rate": 3000, "duration_ns": 10000000000, "arrivals": "constant"}"#)
        #expect(found[29_999] == 9_999_666_666)
    }

    @Test func `Poisson's gaps are exponential: mean and standard deviation are one over the rate`() throws {
        let found = gaps(try instants(#"{"rate": 10000, "duration_ns": 10000000000}"#))
        let mean = found.reduce(0, +) / Double(found.count)
        let variance = found.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(found.count)
        // 100,000 gaps: five standard errors of the mean are 1.6 %, of the deviation less than 2.5 %.
        #expect(abs(mean / 100_000 - 1) < 0.016)
        #expect(abs(variance.squareRoot() / 100_000 - 1) < 0.025)
        let short = found.count { $0 < 100_000 }
        #expect(abs(Double(short) / Double(found.count) - 0.632) < 0.01)
        #expect(found.allSatisfy { $0 >= 0 })
    }

    @Test func `the seed draws the arrivals, and each try of a search draws others`() throws {
        let first = try instants(#"{"seed": 3}"#)
        #expect(first == (try instants(#"{"seed": 3}"#)))
        #expect(first != (try instants(#"{"seed": 4}"#)))
        let plan = try Fixture.plan("open_loop", #"{"seed": 3}"#)
        #expect(plan.arriving(perSecond: 10_000, seedOffset: 1).pacing == .arrivals(try instants(#"{"seed": 4}"#)))
        #expect(plan.arriving(perSecond: 10_000).pacing == plan.pacing)
    }

    @Test func `another rate has another number of operations in the same time`() throws {
        let plan = try Fixture.plan("open_loop", #"{"rate": "search", "duration_ns": 100000000}"#)
        #expect(plan.operationCount == 1000)
        let faster = plan.arriving(perSecond: 50_000)
        #expect(faster.operationCount == 5000 && faster.itemCount == 5000)
    }
}

@Suite struct RateSearchTests {
    private func search(from first: Int = 10_000, _ limit: Int, in range: ClosedRange<Int> = 100...10_000_000) -> Int? {
        RateTries.highestRate(from: first, in: range) { $0 <= limit }
    }

    @Test(arguments: [100, 137, 5000, 9999, 10_000, 10_001, 123_456, 9_000_000])
    func `the search finds a rate that holds, and one a twentieth higher does not`(_ limit: Int) throws {
        let found = try #require(search(limit))
        #expect(found <= limit)
        #expect(Double(found) * RateTries.precision >= Double(limit).rounded(.down) - 1)
    }

    @Test func `no rate of the range may hold, or all of them`() {
        #expect(search(99) == nil)
        #expect(search(20_000_000) == 10_000_000)
        #expect(search(from: 10_000, 50_000, in: 20_000...30_000) == 30_000)
        #expect(search(from: 10_000, 5, in: 3...4) == 4)
    }

    @Test func `the search ends even if the tries contradict each other`() {
        for seed in 0..<200 {
            var generator = SplitMix64(seed: UInt64(seed))
            var tries = 0
            let found = RateTries.highestRate(from: 10_000, in: 100...1_000_000) { _ in
                tries += 1
                return generator.unit() < 0.5
            }
            #expect(tries < 30)
            if let found { #expect((100...1_000_000).contains(found)) }
        }
    }
}

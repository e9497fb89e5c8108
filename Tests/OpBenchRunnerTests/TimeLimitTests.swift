import TestSupport
import Testing

@testable import OpBenchRunner

@Suite struct TimeLimitTests {
    /// Work that ends when it is cancelled, and then comes to nothing.
    @Sendable private static func endless() async throws -> Int {
        try await Task.sleep(for: .seconds(1_000_000))
        return 0
    }

    @Test func `time in which nothing could run is no time that the work had`() async throws {
        let asked = Recorder<Double>()
        // Every other part takes an hour.
        let limit = TimeLimit { seconds in
            asked.append(seconds)
            return asked.entries.count.isMultiple(of: 2) ? seconds : seconds + 3600
        }
        guard case .over(nil) = try await limit.run(seconds: 20, Self.endless) else {
            Issue.record("the work has ended")
            return
        }
        #expect(asked.entries == Array(repeating: 2.0, count: 20))
    }

    @Test func `a busy machine wakes late, and its time counts`() async throws {
        let asked = Recorder<Double>()
        let limit = TimeLimit { seconds in
            asked.append(seconds)
            return seconds + 0.9
        }
        _ = try await limit.run(seconds: 0.25, Self.endless)
        #expect(asked.entries == [0.1, 0.1, 0.25 - 0.1 - 0.1])
    }

    @Test func `what the work came to is known although its time was over`() async throws {
        let over = TimeLimit { $0 }
        let outcome = try await over.run(seconds: 1) {
            while !Task.isCancelled { await Task.yield() }
            return 7
        }
        guard case .over(7) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test func `work that ends first is in time; what it throws is thrown`() async throws {
        let waiting = TimeLimit { seconds in
            try await Task.sleep(for: .seconds(1_000_000))
            return seconds
        }
        guard case .inTime(3) = try await waiting.run(seconds: 1, { 3 }) else {
            Issue.record("the time was over")
            return
        }
        await #expect(throws: StopError.self) {
            _ = try await waiting.run(seconds: 1) { () async throws -> Int in throw StopError() }
        }
    }

    private struct StopError: Error {}
}

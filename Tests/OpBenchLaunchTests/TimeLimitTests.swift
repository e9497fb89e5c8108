import Testing

@testable import OpBenchLaunch

@Suite struct TimeLimitTests {
    /// The times that are waited for until the limit is over, if each wait takes the time that `elapsed` returns.
    private func waits(of seconds: Double, _ elapsed: (_ asked: Double, _ count: Int) -> Double) -> [Double] {
        var limit = TimeLimit(seconds: seconds)
        var asked: [Double] = []
        while let next = limit.next {
            asked.append(next)
            limit.take(elapsed(next, asked.count))
        }
        return asked
    }

    @Test func `time in which nothing could run does not count`() {
        // Every other part takes an hour.
        let asked = waits(of: 20) { asked, count in count.isMultiple(of: 2) ? asked : asked + 3600 }
        #expect(asked == Array(repeating: 2.0, count: 20))
    }

    @Test func `a late wake-up on a busy machine counts in full`() {
        #expect(waits(of: 0.25) { asked, _ in asked + 0.9 } == [0.1, 0.1, 0.25 - 0.1 - 0.1])
    }

    @Test func `an interrupted wait counts as far as it went`() {
        let asked = waits(of: 2) { asked, count in count <= 4 ? asked / 2 : asked }
        #expect(asked.count == 12 && asked.allSatisfy { $0 <= 0.2 })
    }

    @Test func `a limit of zero is over at once`() {
        #expect(waits(of: 0) { asked, _ in asked } == [])
    }
}

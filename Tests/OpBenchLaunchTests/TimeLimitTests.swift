import Testing

@testable import OpBenchLaunch

@Suite struct TimeLimitTests {
    /// The times that are waited for until it is over, if waiting for them takes what `elapsed` says.
    private func waits(of seconds: Double, _ elapsed: (_ asked: Double, _ count: Int) -> Double) -> [Double] {
        var limit = TimeLimit(seconds: seconds)
        var asked: [Double] = []
        while let next = limit.next {
            asked.append(next)
            limit.take(elapsed(next, asked.count))
        }
        return asked
    }

    @Test func `time in which nothing could run is no time that the program had`() {
        // Every other part takes an hour.
        let asked = waits(of: 20) { asked, count in count.isMultiple(of: 2) ? asked : asked + 3600 }
        #expect(asked == Array(repeating: 2.0, count: 20))
    }

    @Test func `a busy machine wakes late, and its time counts`() {
        #expect(waits(of: 0.25) { asked, _ in asked + 0.9 } == [0.1, 0.1, 0.25 - 0.1 - 0.1])
    }

    @Test func `a wait that is broken off counts as far as it went`() {
        let asked = waits(of: 2) { asked, count in count <= 4 ? asked / 2 : asked }
        #expect(asked.count == 12 && asked.allSatisfy { $0 <= 0.2 })
    }

    @Test func `no time is over at once`() {
        #expect(waits(of: 0) { asked, _ in asked } == [])
    }
}

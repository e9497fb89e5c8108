import Testing

@testable import OpBenchRunner

@Suite struct InversionsTests {
    private func trace(_ ready: Int64, _ start: Int64, _ end: Int64, _ level: Int) -> OrderedOperation {
        OrderedOperation(ready: ready, start: start, end: end, level: level)
    }

    @Test func `one slot in the right order has no inversion`() {
        let found = Inversions.victims(in: [trace(0, 10, 20, 2), trace(1, 21, 30, 1), trace(2, 31, 40, 0)])
        #expect(found == [nil, nil, nil])
    }

    @Test func `a low operation that takes a slot before a waiting high one is an inversion`() {
        // The slot is free at 20; the high one was ready at 5 and starts last.
        let found = Inversions.victims(in: [trace(0, 10, 20, 1), trace(1, 21, 30, 0), trace(5, 31, 40, 2)])
        #expect(found == [nil, 2, nil])
    }

    @Test func `operations are counted, not pairs`() {
        let found = Inversions.victims(in: [
            trace(0, 1, 10, 2), trace(2, 11, 20, 0), trace(3, 21, 30, 1), trace(4, 31, 40, 1), trace(5, 41, 50, 1),
        ])
        #expect(found.count { $0 != nil } == 1)
    }

    @Test func `a high operation that became ready after the slot was free is not overtaken`() {
        // The choice fell at 20; the high one came at 20 or later.
        let found = Inversions.victims(in: [trace(0, 10, 20, 1), trace(1, 22, 30, 0), trace(20, 31, 40, 2)])
        #expect(found == [nil, nil, nil])
    }

    @Test func `an idle slot is taken at the operation's own ready time`() {
        // Nothing ran when the low one came at 50; the high one came at 60, before the low one's start at 70.
        let found = Inversions.victims(in: [trace(0, 1, 10, 1), trace(50, 70, 80, 0), trace(60, 81, 90, 2)])
        #expect(found == [nil, nil, nil])
    }

    @Test func `a second slot that becomes free later sets the instant of the second choice`() {
        // Slots free at 20 and 30. At 25 a high one comes, too late for the first choice, in time for the second.
        let found = Inversions.victims(in: [
            trace(0, 1, 20, 1), trace(0, 2, 30, 1), trace(0, 21, 100, 0), trace(0, 31, 101, 0), trace(25, 102, 103, 2),
        ])
        #expect(found == [nil, nil, nil, 4, nil])
    }

    @Test func `an operation that started before its submitting call returned counts from its start`() {
        let found = Inversions.victims(in: [trace(40, 10, 20, 0), trace(30, 50, 60, 2)])
        #expect(found == [nil, nil])
    }

    @Test func `equal levels are never inverted`() {
        let found = Inversions.victims(in: (0..<50).map { trace(0, Int64(100 - $0), Int64(101 - $0), 1) })
        #expect(found.allSatisfy { $0 == nil })
    }

    @Test func `no operations have no inversion`() { #expect(Inversions.victims(in: []).isEmpty) }
}

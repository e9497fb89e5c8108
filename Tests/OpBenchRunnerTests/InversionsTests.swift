import Testing

@testable import OpBenchRunner

@Suite struct InversionsTests {
    private func trace(_ ready: Int64, _ start: Int64, _ end: Int64, _ level: Int) -> OperationTrace {
        OperationTrace(ready: ready, start: start, end: end, level: level)
    }

    @Test func `one slot in the right order has none`() {
        let found = Inversions.find(in: [trace(0, 10, 20, 2), trace(1, 21, 30, 1), trace(2, 31, 40, 0)])
        #expect(found == [false, false, false])
    }

    @Test func `a low one that takes a slot before a waiting high one is one`() {
        // The slot is free at 20; the high one was ready at 5 and starts last.
        let found = Inversions.find(in: [trace(0, 10, 20, 1), trace(1, 21, 30, 0), trace(5, 31, 40, 2)])
        #expect(found == [false, true, false])
    }

    @Test func `operations are counted, not pairs`() {
        let found = Inversions.find(in: [
            trace(0, 1, 10, 2), trace(2, 11, 20, 0), trace(3, 21, 30, 1), trace(4, 31, 40, 1), trace(5, 41, 50, 1),
        ])
        #expect(found.count { $0 } == 1)
    }

    @Test func `a high one that became ready after the slot was free is none`() {
        // The choice fell at 20; the high one came at 20 or later.
        let found = Inversions.find(in: [trace(0, 10, 20, 1), trace(1, 22, 30, 0), trace(20, 31, 40, 2)])
        #expect(found == [false, false, false])
    }

    @Test func `an idle slot is taken at the operation's own ready time`() {
        // Nothing ran when the low one came at 50; the high one came at 60, before the low one's start at 70.
        let found = Inversions.find(in: [trace(0, 1, 10, 1), trace(50, 70, 80, 0), trace(60, 81, 90, 2)])
        #expect(found == [false, false, false])
    }

    @Test func `a second slot that frees later is the second choice's instant`() {
        // Slots free at 20 and 30. At 25 a high one comes, too late for the first choice, in time for the second.
        let found = Inversions.find(in: [
            trace(0, 1, 20, 1), trace(0, 2, 30, 1), trace(0, 21, 100, 0), trace(0, 31, 101, 0), trace(25, 102, 103, 2),
        ])
        #expect(found == [false, false, false, true, false])
    }

    @Test func `an operation that started before its submitting call returned counts from its start`() {
        let found = Inversions.find(in: [trace(40, 10, 20, 0), trace(30, 50, 60, 2)])
        #expect(found == [false, false])
    }

    @Test func `equal levels are never inverted`() {
        let found = Inversions.find(in: (0..<50).map { trace(0, Int64(100 - $0), Int64(101 - $0), 1) })
        #expect(!found.contains(true))
    }

    @Test func `nothing is no inversion`() { #expect(Inversions.find(in: []).isEmpty) }
}

@Suite struct SuspensionFiguresTests {
    @Test func `starts within a hold are counted and the last one is the quiescence`() {
        let figures = SuspensionFigures(
            holds: [Hold(suspendReturned: 100, resumeCalled: 200)], starts: [50, 110, 130, 205, 300])
        #expect(figures.startsPerHold == [2])
        #expect(figures.quiesceTimes == [30])
        #expect(figures.resumeToStart == [5])
    }

    @Test func `a hold in which nothing starts was quiet at once`() {
        let figures = SuspensionFigures(holds: [Hold(suspendReturned: 100, resumeCalled: 200)], starts: [100, 250])
        #expect(figures.startsPerHold == [0])
        #expect(figures.quiesceTimes == [0])
        #expect(figures.resumeToStart == [50])
    }

    @Test func `holds after the last start say nothing`() {
        let holds = [Hold(suspendReturned: 100, resumeCalled: 200), Hold(suspendReturned: 300, resumeCalled: 400)]
        #expect(SuspensionFigures(holds: holds, starts: [50, 150]).startsPerHold == [1])
        #expect(SuspensionFigures(holds: holds, starts: [50, 100]).startsPerHold.isEmpty)
    }

    @Test func `a resumption without a start before the next hold has no time`() {
        let holds = [Hold(suspendReturned: 100, resumeCalled: 200), Hold(suspendReturned: 201, resumeCalled: 400)]
        #expect(SuspensionFigures(holds: holds, starts: [50, 410]).resumeToStart == [10])
    }
}

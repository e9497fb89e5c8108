import Testing

@testable import OpBenchRunner

@Suite struct SuspensionFiguresTests {
    @Test func `starts within a hold are counted and the last one is the quiescence`() {
        let figures = SuspensionFigures(
            holds: [Hold(suspendReturned: 100, resumeCalled: 200)], starts: [50, 110, 130, 205, 300])
        #expect(figures.startsPerHold == [2])
        #expect(figures.quiesceTimes == [30])
        #expect(figures.resumeToStart == [5])
    }

    @Test func `a hold in which nothing starts is quiet at once`() {
        let figures = SuspensionFigures(holds: [Hold(suspendReturned: 100, resumeCalled: 200)], starts: [100, 250])
        #expect(figures.startsPerHold == [0])
        #expect(figures.quiesceTimes == [0])
        #expect(figures.resumeToStart == [50])
    }

    @Test func `holds after the last start show nothing`() {
        let holds = [Hold(suspendReturned: 100, resumeCalled: 200), Hold(suspendReturned: 300, resumeCalled: 400)]
        #expect(SuspensionFigures(holds: holds, starts: [50, 150]).startsPerHold == [1])
        #expect(SuspensionFigures(holds: holds, starts: [50, 100]).startsPerHold.isEmpty)
    }

    @Test func `a resumption without a start before the next hold has no time`() {
        let holds = [Hold(suspendReturned: 100, resumeCalled: 200), Hold(suspendReturned: 201, resumeCalled: 400)]
        #expect(SuspensionFigures(holds: holds, starts: [50, 410]).resumeToStart == [10])
    }
}

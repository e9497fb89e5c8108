import Testing

@testable import OpBenchProfile

@Suite("Priorities, fairness, wake-ups")
struct PriorityTests {
    @Test("An inversion has a culprit, a victim and a delay")
    func inversion() {
        let found = PriorityInversions(Fixture.inversion)
        #expect(
            found.inversions == [
                PriorityInversions.Inversion(culprit: 1, victim: 2, time: 10, waited: 9, delay: 10)
            ])
        #expect(found.starts == 3)
        #expect(found.delay == 10)
        #expect(PriorityInversions(Fixture.inversion, tolerance: 9).inversions.isEmpty)
        #expect(PriorityInversions(Fixture.twoPriorities(limit: nil)).inversions.isEmpty)
    }

    @Test("Operations of a suspended queue or another queue are not victims")
    func noVictims() {
        var suspended = Fixture.inversion
        suspended.spans = [TracedSpan(kind: .suspension, queue: 0, start: 5, end: 15)]
        #expect(PriorityInversions(suspended).inversions.isEmpty)
        var apart = Fixture.inversion
        apart.queues.append(SampleTrace.Queue(name: "other"))
        apart.operations[2].queue = 1
        #expect(PriorityInversions(apart).inversions.isEmpty)
    }

    @Test("Of several victims, the most urgent, and among these the one that waited longest")
    func severalVictims() {
        let trace = Fixture.trace(
            workers: 1,
            [
                TracedOperation(submit: 0, start: 0, end: 10),
                TracedOperation(submit: 0, start: 10, end: 20, priority: -8),
                TracedOperation(submit: 1, start: 40, end: 50, priority: 4),
                TracedOperation(submit: 2, start: 20, end: 30, priority: 8),
                TracedOperation(submit: 3, start: 30, end: 40, priority: 8),
            ])
        let found = PriorityInversions(trace).inversions
        #expect(found.map(\.culprit) == [1])
        #expect(found.map(\.victim) == [3])
        #expect(found.map(\.waited) == [8])
    }
}

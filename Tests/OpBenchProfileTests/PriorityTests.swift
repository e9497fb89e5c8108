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

    @Test("Jain's index: 1 if equal, 1 ÷ n if one has everything")
    func jain() {
        #expect(Fairness.index([5, 5, 5]) == 1)
        #expect(Fairness.index([0, 0, 9]) == 1.0 / 3)
        #expect(Fairness.index([1, 3]) == 16.0 / 20)
        #expect(Fairness.index([0, 0]) == 1)
        #expect(Fairness.index([]) == 1)
    }

    @Test("Waits by class, and the longest starvation with the number of overtaking operations")
    func fairness() throws {
        var trace = Fixture.twoPriorities(limit: nil)
        trace.classes = ["calm", "urgent"]
        trace.operations[2].operationClass = 1
        let fairness = Fairness(trace, WaitAnalysis(trace, try OperationGraph(trace)))
        #expect(fairness.classes.map(\.name) == ["calm", "urgent"])
        #expect(fairness.classes.map(\.total) == [20, 9])
        #expect(fairness.classes.map(\.mean) == [10, 9])
        #expect(fairness.index == 361.0 / (2 * 181))
        #expect(fairness.longestStarvation == Fairness.Starvation(operation: 1, wait: 20, overtakenBy: 1))
        // A suspension is not starvation.
        let suspended = Fixture.suspension
        let calm = Fairness(suspended, WaitAnalysis(suspended, try OperationGraph(suspended)))
        #expect(calm.longestStarvation == Fairness.Starvation(operation: 1, wait: 7, overtakenBy: 0))
    }

    @Test("Wake-ups: who woke whom, how late, and in vain")
    func wakeUps() {
        let wakeUps = WakeUps(Fixture.everything)
        #expect(wakeUps.parks == 2)
        #expect(wakeUps.wakes == 2)
        #expect(wakeUps.vainWakes == 1)
        #expect(wakeUps.pairs == [WakeUps.Pair(waker: 1, woken: 0, count: 1, total: 1, longest: 1)])
        #expect(wakeUps.parkedTime == [10 + 12, 0, 0])
    }
}

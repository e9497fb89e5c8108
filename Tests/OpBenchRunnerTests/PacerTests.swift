import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchModel
@testable import OpBenchRunner

@Suite(.onOwnThreads) struct PacerTests {
    @Test func `bursts are drained one at a time, with the pause between them and none after the last`() throws {
        let plan = try Fixture.plan("wakeup", #"{"operations": 7, "burst": 3, "pause_ns": 500}"#)
        let clock = ManualClock(oversleep: 20)
        let backend = RecordingBackend(clock)
        let pace = Pacer(plan: plan, clock: clock.pace).submit(to: backend)
        #expect(backend.calls.map(\.name) == ["0..<3", "drain", "3..<6", "drain", "6..<7", "drain"])
        #expect(backend.calls.map(\.instant) == [0, 0, 520, 520, 1040, 1040])
        #expect(pace.pausedNanoseconds == 2 * 520)
    }

    @Test func `a spinning pause watches the clock without sleeping`() throws {
        let plan = try Fixture.plan("wakeup", #"{"operations": 3, "pause_ns": 500, "pause_by": "spin"}"#)
        // A sleeping pause would be far too late.
        let clock = ManualClock(oversleep: 1_000_000, reading: 1)
        let backend = RecordingBackend(clock)
        let pace = Pacer(plan: plan, clock: clock.pace).submit(to: backend)
        #expect(backend.calls.map(\.name) == ["0..<1", "drain", "1..<2", "drain", "2..<3", "drain"])
        #expect((1000...1010).contains(pace.pausedNanoseconds))
    }

    @Test func `without a pause nothing sleeps`() throws {
        let clock = ManualClock(oversleep: 20)
        let backend = RecordingBackend(clock)
        let plan = try Fixture.plan("wakeup", #"{"operations": 3}"#)
        #expect(Pacer(plan: plan, clock: clock.pace).submit(to: backend).pausedNanoseconds == 0)
        #expect(backend.calls.map(\.instant) == [0, 0, 0, 0, 0, 0])
    }

    @Test func `a plan without a pace is submitted as one part`() throws {
        let clock = ManualClock()
        let backend = RecordingBackend(clock)
        _ = Pacer(plan: try Fixture.plan("independent", #"{"items": 5}"#), clock: clock.pace).submit(to: backend)
        #expect(backend.calls.map(\.name) == ["0..<5"])
    }

    @Test func `the plan's pauses belong to no phase`() {
        var round = Round()
        (round.built, round.submitted, round.drained) = (10, 1000, 1050)
        round.pace.pausedNanoseconds = 900
        #expect(round.submit == 90)
        #expect(round.total == 150)
        #expect(round.makespan == 140)
        #expect(round.elapsed == 1050)
    }

    @Test func `holds belong to no phase after the last submission`() {
        var round = Round()
        (round.built, round.submitted, round.cancelled, round.drained) = (10, 100, 100, 1000)
        // One ends before the last submission, one spans it, one is within the drain, and one is active at its end.
        round.holds = [(20, 40), (50, 150), (300, 400), (900, 1200)].map {
            Hold(suspendReturned: $0, resumeCalled: $1)
        }
        #expect(round.submit == 90)
        #expect(round.drain == 900 - 50 - 100 - 100)
        #expect(round.total == 750)
        #expect(round.makespan == 740)
        #expect(round.elapsed == 1000)
    }

    @Test func `arrivals are submitted one at a time, none before its time, late ones at once`() throws {
        let clock = ManualClock(oversleep: 30_000, reading: 1000)
        let backend = RecordingBackend(clock)
        var plan = try Fixture.plan("open_loop")
        plan.operationCount = 4
        plan.pacing = .arrivals([0, 500_000, 510_000, 600_000])
        plan.stall = .init(nanoseconds: 40_000, operation: 2, stallsSubmitter: true)
        let pace = Pacer(plan: plan, clock: clock.pace).submit(to: backend)
        #expect(backend.calls.map(\.name) == ["0..<1", "1..<2", "2..<3", "3..<4"])
        let delays = zip(backend.calls, [0, 500_000, 510_000, 600_000]).map { $0.instant - pace.firstArrival - $1 }
        #expect(delays.allSatisfy { $0 >= 0 })
        // Late by at most one reading of the clock, except the one delayed by the stall (and its oversleeping).
        #expect(delays[0] <= 1000 && delays[1] <= 1000 && delays[3] <= 1000)
        #expect((60_000...65_000).contains(delays[2]))
        #expect(pace.pausedNanoseconds == 0)
    }

    @Test func `an operation that starts before it arrives makes a check invalid`() throws {
        let plan = try Fixture.plan("open_loop", #"{"rate": 5000, "duration_ns": 1000000, "arrivals": "constant"}"#)
        // So far apart that those that start at once have not arrived, however late this thread is.
        let slow = try Fixture.plan("open_loop", #"{"rate": 1, "duration_ns": 3000000000, "arrivals": "constant"}"#)
        func report(_ defect: ScriptedBackend.Defect, _ plan: WorkloadPlan) -> SampleReport {
            Trial(
                plan: plan, factory: ScriptedBackend.factory(defect), flavour: .check, kernel: Fixture.kernel,
                targetNanoseconds: 1000
            ).run()
        }
        #expect(report(.none, plan).status == .ok)
        let early = report(.startsEarly, slow)
        #expect(early.status == .invalid)
        Golden("open-loop-violations").expect(early.notes, "operations before their arrival")
        #expect(report(.repeatsOne, plan).status == .invalid)
        #expect(report(.losesOne, plan).status == .invalid)
    }

    @Test func `a wait that returns early makes a check invalid`() throws {
        let plan = try Fixture.plan("wakeup", #"{"operations": 6, "burst": 2}"#)
        func report(_ defect: ScriptedBackend.Defect) -> SampleReport {
            Trial(
                plan: plan, factory: ScriptedBackend.factory(defect), flavour: .check, kernel: Fixture.kernel,
                targetNanoseconds: 1000
            ).run()
        }
        #expect(report(.none).status == .ok)
        let early = report(.drainsEarly)
        #expect(early.status == .invalid)
        Golden("open-loop-violations").expect(early.notes, "bursts before the end of the one before")
        #expect(report(.losesOne).status == .invalid)
    }

    @Test func `if the plan paces, submitting is part of draining`() throws {
        let report = Trial(
            plan: try Fixture.plan("wakeup", #"{"operations": 4}"#), factory: EngineBackend.factory,
            flavour: .throughput, kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
        let phases = report.figures.filter { $0.metric == "time" && $0.iteration == nil }.map(\.phase)
        #expect(phases == ["build", "drain", "teardown", "total", "makespan"])
    }
}

/// A clock that advances only when someone sleeps, or reads it if reading takes time.
final class ManualClock: @unchecked Sendable {
    private(set) var now: Int64 = 0
    /// The extra time that a sleeper sleeps.
    private let oversleep: Int64
    /// The time that reading the clock takes.
    private let reading: Int64

    init(oversleep: Int64 = 0, reading: Int64 = 0) { (self.oversleep, self.reading) = (oversleep, reading) }

    var pace: PaceClock {
        PaceClock(
            now: { [self] in
                now += reading
                return now
            }, sleep: { [self] until in now = max(now, until + oversleep) })
    }
}

/// A backend that runs nothing and records its calls.
private final class RecordingBackend: RoundBackend, @unchecked Sendable {
    private(set) var calls: [(name: String, instant: Int64)] = []
    private let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    func submit(_ part: Range<Int>) { calls.append(("\(part.lowerBound)..<\(part.upperBound)", clock.now)) }
    func drain() { calls.append(("drain", clock.now)) }
}

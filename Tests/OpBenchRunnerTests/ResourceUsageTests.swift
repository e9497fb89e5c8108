import OpBenchModel
import Synchronization
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

/// Other tests run in this process and add to its use, so the bounds hold whatever they use.
@Suite("The resources charged to a sample", .onOwnThreads) struct ResourceUsageTests {
    @Test func `the competitors' use is not the backend's`() throws {
        let competitors = Competitors(count: 2)
        defer { competitors.dismiss() }
        let burnt: Int64 = 50_000_000
        let factory = IdleBackend.factory { round in
            let first = competitors.usage.cpuNanoseconds
            while competitors.usage.cpuNanoseconds < first + burnt {}
            round.body.run(0)
        }
        let trial = Trial(
            plan: try Fixture.plan("thread_priority", #"{"operations": 1, "work_ns": 0}"#), factory: factory,
            flavour: .throughput, kernel: Fixture.kernel, targetNanoseconds: 1000)
        let producers = Producers(trial.plan)
        var report = SampleReport()
        var all = ResourceUsage()
        let before = ResourceUsage.now()
        ThroughputTrial(trial: trial, competitors: competitors).run(producers, into: &report)
        all.add(from: before, to: .now())
        #expect(report.status == .ok)
        #expect(report.figures.first { $0.metric == "rounds" }?.value == 1)
        let charged = try #require(report.figures.first { $0.metric == "cpu_time" }).value
        // getrusage(2) counts in microseconds.
        #expect(charged <= Double(all.cpuNanoseconds - burnt + 10_000))
    }

    @Test func `a thread's use can be read from outside while it lives`() {
        let (reached, isRead) = (Flag(), Flag())
        let thread = OwnThread {
            while MonotonicClock.threadCPU() < 5_000_000 {}
            reached.set()
            while !isRead.isSet {}
        }
        while !reached.isSet {}
        let usage = thread.id.map { ResourceUsage.of(thread: $0) }
        isRead.set()
        thread.join()
        #expect(usage?.cpuNanoseconds ?? 0 >= 5_000_000)
    }

    @Test(arguments: ["spin", "sleep"]) func `the use by the workload's pauses is separate`(_ way: String) throws {
        let plan = try Fixture.plan("wakeup", #"{"operations": 3, "pause_ns": 1000000, "pause_by": "\#(way)"}"#)
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .marked)
        defer { body.deallocate() }
        #expect(Pacer(plan: plan).submit(to: IdleBackend(body) { _ in }).pausedUsage.cpuNanoseconds > 0)
    }

    @Test func `the storm's thread is charged only with its calls`() throws {
        let plan = try Fixture.plan(
            "suspend_resume", #"{"operations": 1, "toggles": 3, "run_ns": 1000, "hold_ns": 1000, "work_ns": 0}"#)
        let factory = IdleBackend.factory { round in
            while round.resumptions.load(ordering: .relaxed) < 3 {}
            round.body.run(0)
        }
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .marked)
        defer { body.deallocate() }
        let round = Round.run(plan, by: factory, body, producers: Producers(plan))
        #expect(round.holds.count == 3)
        #expect(round.pausedUsage.cpuNanoseconds > 0)
    }
}

/// A backend whose rounds consist of the given `drain`.
private final class IdleBackend: RoundBackend {
    let body: OperationBody
    let resumptions = Atomic<Int>(0)
    private let whatDrains: @Sendable (IdleBackend) -> Void

    static func factory(_ drain: @escaping @Sendable (IdleBackend) -> Void) -> BackendFactory {
        BackendFactory(
            id: .serial, guarantees: [], support: { _ in .full() }, canHoldPending: { _ in false },
            make: { IdleBackend($1, drain) })
    }

    init(_ body: OperationBody, _ drain: @escaping @Sendable (IdleBackend) -> Void) {
        (self.body, whatDrains) = (body, drain)
    }

    func submit(_ part: Range<Int>) {}
    func drain() { whatDrains(self) }
    func resume() { resumptions.add(1, ordering: .relaxed) }
}

import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

@Suite struct SequenceTests {
    private static let phases = #"""
        "phases": [{"name": "a", "shape": "independent", "parameters": {"items": 30, "items_per_operation": 3}},
                   {"name": "b", "shape": "wakeup", "parameters": {"operations": 5, "max_concurrent": 2, "seed": 9}},
                   {"name": "c", "shape": "open_loop", "parameters": {"rate": 9000, "duration_ns": 1000000}}]
        """#

    private func report(
        _ factory: BackendFactory, _ flavour: SampleFlavour, _ more: String = ""
    ) throws -> SampleReport {
        Trial(
            plan: try Fixture.plan("sequence", "{\(Self.phases)\(more)}"), factory: factory, flavour: flavour,
            kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
    }

    @Test func `a phase has the sequence's common parameters unless it overrides them`() throws {
        let cell = try Fixture.cell("sequence", #"{\#(Self.phases), "work_ns": 7, "max_concurrent": 3, "seed": 2}"#)
        let phases = cell.phases
        #expect(phases.map(\.name) == ["a", "b", "c"])
        #expect(phases.map { $0.cell.integer("work_ns") } == [7, 7, 7])
        #expect(phases.map(\.cell.maxConcurrent) == [3, 2, 3])
        #expect(phases.map { $0.cell.integer("seed") } == [2, 9, 2])
        #expect(cell.operationCount == 10 + 5 + 9 && cell.itemCount == 30 + 5 + 9)
        let plan = WorkloadPlan(cell)
        #expect(plan.phases.map(\.plan.operationCount) == [10, 5, 9] && plan.operationCount == 24)
        #expect(plan.sequence?.sharesQueue == true)
    }

    @Test func `the phases are in the cell's id, in the row and in the order to the sample's process`() throws {
        let cell = try Fixture.cell("sequence", "{\(Self.phases)}")
        let text = "a:independent/items:30/items_per_operation:3+b:wakeup/max_concurrent:2/operations:5/seed:9"
        #expect(cell.id == "w phases=\(text)+c:open_loop/duration_ns:1000000/rate:9000")
        let request = SampleRequest(
            cell: cell, backend: .engine, flavour: .latency, targetNanoseconds: 1, kernel: Fixture.kernel, parent: 1)
        let sent = try JSONDecoder().decode(SampleRequest.self, from: JSONEncoder().encode(request))
        #expect(sent.cell == cell)
    }

    @Test func `throughput is by phase, and in total without the phases whose time is not the queue's`() throws {
        let report = try report(EngineBackend.factory, .throughput)
        #expect(report.status == .ok)
        func total(_ operationClass: String) -> SampleReport.Figure? {
            report.figures.first {
                $0.metric == "time" && $0.phase == "total" && $0.iteration == nil && $0.operationClass == operationClass
            }
        }
        let (a, b) = (try #require(total("phase=a")), try #require(total("phase=b")))
        let whole = try #require(total(""))
        #expect(total("phase=c") == nil)
        #expect(abs(a.value + b.value - whole.value) < 1e-9)
        let rounds = try #require(report.figures.first { $0.metric == "rounds" && $0.operationClass.isEmpty }).value
        #expect(whole.operations == 15 * Int(rounds))
        #expect(report.figures.contains { $0.metric == "cpu_time" && $0.operationClass == "phase=a" })
        let keys = report.figures.map {
            "\($0.metric) \($0.stat) \($0.phase) \($0.operationClass) \($0.iteration ?? -1)"
        }
        #expect(Set(keys).count == keys.count)
    }

    @Test func `the times of phases add up, separately for each part`() {
        var round = Round()
        (round.begun, round.built, round.submitted, round.cancelled) = (0, 1, 11, 111)
        (round.drained, round.teardownBegun, round.tornDown) = (1111, 1111, 11111)
        round.releaseFaults = 7
        var (phase, together) = (PhaseTimes(), PhaseTimes())
        phase.add(round)
        for _ in 0..<2 { together.add(phase) }
        #expect(together.rounds == 1)
        let parts = [together.build, together.submit, together.cancel, together.drain, together.teardown]
        #expect(parts == [2, 20, 200, 2000, 20000])
        #expect((together.total, together.makespan, together.releaseFaults) == (2222, 2220, 14))
    }

    @Test func `latencies are by phase`() throws {
        let report = try report(EngineBackend.factory, .latency)
        #expect(Set(report.histograms.map(\.operationClass)) == ["phase=a", "phase=b", "phase=c"])
        let intended = report.figures.filter { $0.metric == "intended_latency" }.map(\.operationClass)
        #expect(Set(intended) == ["phase=c"])
    }

    @Test func `a defect is reported with its phase`() throws {
        for flavour in [SampleFlavour.throughput, .latency, .check] {
            let lost = try report(ScriptedBackend.factory(.losesOne), flavour)
            #expect(lost.status == .invalid)
            Golden("sequence-violations").expect(lost.notes, "an operation lost, in a sample of \(flavour)")
        }
        #expect(try report(ScriptedBackend.factory(.none), .check).status == .ok)
        let plan = try Fixture.plan(
            "sequence", #"{"phases": [{"name": "b", "shape": "wakeup", "parameters": {"operations": 5}}]}"#)
        let early = Trial(
            plan: plan, factory: ScriptedBackend.factory(.drainsEarly), flavour: .check, kernel: Fixture.kernel,
            targetNanoseconds: 1000
        ).run()
        #expect(early.status == .invalid)
        Golden("sequence-violations").expect(early.notes, "bursts before the end of the one before")
    }

    @Test func `inexpressible plans are reported with their phase`() throws {
        let report = try report(SerialBackend.factory, .throughput)
        #expect(report.status == .unsupported)
        Golden("sequence-violations").expect(report.notes, "unsupported")
    }

    @Test func `phases share a queue or have their own, and every round begins with a new one`() throws {
        for (more, queues) in [("", 1), (#", "queue": "own""#, 3)] {
            let log = QueueLog()
            #expect(try report(log.factory, .check, more).status == .ok)
            // The warm-up of each phase has one queue per round.
            #expect(Set(log.queues.suffix(3).map(ObjectIdentifier.init)).count == queues)
        }
    }

    @Test(arguments: [BackendID.engine, .foundation, .dispatch])
    func `a backend continues with the queue that it takes over`(_ id: BackendID) throws {
        let factory = try #require(BackendFactory.named(id))
        func backend(_ parameters: String, _ queue: AnyObject?) throws -> (AnyObject?, () -> Void) {
            let plan = try Fixture.plan("independent", parameters)
            let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .marked)
            let made = factory.make(plan, body)
            if let queue { made.takeOver(queue) }
            made.build()
            made.submit(0..<plan.operationCount)
            made.drain()
            #expect(plan.violations(of: body.traces) == [])
            let used = made.handOver()
            return (
                used,
                {
                    made.teardown()
                    body.deallocate()
                }
            )
        }
        let (first, endFirst) = try backend(#"{"items": 5, "max_concurrent": 1}"#, nil)
        endFirst()
        let (second, endSecond) = try backend(#"{"items": 5, "max_concurrent": 1, "form": "block"}"#, first)
        #expect(first != nil && second === first)
        endSecond()
    }
}

/// Makes backends that run like the scripted one, on queues that are mere objects.
private final class QueueLog: @unchecked Sendable {
    private(set) var queues: [AnyObject] = []

    var factory: BackendFactory {
        BackendFactory(
            id: BackendID(rawValue: "logged"), guarantees: [], support: { _ in .full() }, canHoldPending: { _ in true },
            make: { [self] plan, body in Logged(ScriptedBackend(plan, body, .none), self) })
    }

    private final class Logged: Backend, @unchecked Sendable {
        private final class Queue {}
        private let backend: ScriptedBackend
        private let log: QueueLog
        private var queue: AnyObject?

        init(_ backend: ScriptedBackend, _ log: QueueLog) { (self.backend, self.log) = (backend, log) }

        func build() {
            if queue == nil { queue = Queue() }
            log.queues.append(queue!)
        }
        func takeOver(_ queue: AnyObject) { self.queue = queue }
        func handOver() -> AnyObject? { queue }
        func submit(_ part: Range<Int>) { backend.submit(part) }
        func release() {}
        func drain() { backend.drain() }
        func teardown() {}
        func suspend() {}
        func resume() {}
    }
}

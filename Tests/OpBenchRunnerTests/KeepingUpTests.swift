import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

@Suite struct KeepingUpTests {
    /// One arrival a microsecond; how long after the first each operation ends.
    private func keepingUp(_ count: Int = 1000, ends: (Int64) -> Int64) -> KeepingUp {
        let arrivals = (0..<count).map { Int64($0) * 1000 }
        return KeepingUp(arrivals: arrivals, ends: arrivals.map(ends))
    }

    private func rates(_ keepingUp: KeepingUp) -> (arrival: Double?, completion: Double?, flags: [String]) {
        var report = SampleReport()
        keepingUp.report(into: &report)
        func rate(_ metric: Metric) -> Double? { report.figures.first { $0.metric == metric.name }?.value }
        return (rate(.arrivalRate), rate(.completionRate), report.flags)
    }

    @Test func `a queue that ends a third of what arrives is overloaded, and both rates say so`() {
        let found = keepingUp { 3 * $0 + 500 }
        #expect(found.isOverloaded)
        let (arrival, completion, flags) = rates(found)
        #expect(arrival == 1e6)
        #expect(completion == 333e9 / 999_000)
        #expect(flags == ["overloaded"])
    }

    @Test func `one that is a tenth too slow is overloaded, however soon the first operations end`() {
        #expect(keepingUp { $0 + $0 / 9 }.isOverloaded)
    }

    @Test func `one that keeps up is not, nor one that stands still for a while`() {
        let found = keepingUp { $0 + 1500 }
        #expect(!found.isOverloaded)
        #expect(rates(found).flags == [])
        #expect(rates(found).completion.map { abs($0 / 1e6 - 1) < 0.01 } == true)
        // In the middle, and at the end.
        #expect(!keepingUp { (450_000..<650_000).contains($0) ? 650_000 : $0 + 1 }.isOverloaded)
        #expect(!keepingUp { $0 > 900_000 ? 1_200_000 : $0 + 1 }.isOverloaded)
    }

    @Test func `of a few operations that are all still running nothing is said`() {
        #expect(!keepingUp(20) { $0 + 1_000_000 }.isOverloaded)
        #expect(rates(KeepingUp(arrivals: [0], ends: [50])).arrival == nil)
    }

    @Test func `most rounds decide for the sample`() {
        let (over, under) = (keepingUp { 3 * $0 + 500 }, keepingUp { $0 + 1 })
        #expect(!over.merged(with: under).isOverloaded)
        #expect(over.merged(with: under).merged(with: over).isOverloaded)
        #expect(rates(over.merged(with: under)).arrival == 1e6)
    }
}

/// The scripted backend runs nothing before it is drained, and so keeps up with no rate.
@Suite(.onOwnThreads) struct OverloadTests {
    private func report(_ parameters: String, _ factory: BackendFactory) throws -> SampleReport {
        Trial(
            plan: try Fixture.plan("open_loop", parameters), factory: factory, flavour: .latency,
            kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
    }

    @Test func `a sample in which nothing ends before the last arrival is flagged`() throws {
        let report = try report(
            #"{"rate": 100000, "duration_ns": 10000000, "work_ns": 0}"#, ScriptedBackend.factory(.none))
        #expect(report.status == .ok)
        #expect(report.flags.contains("overloaded"))
        #expect(report.figures.first { $0.metric == "completion_rate" }?.value == 0)
        #expect(report.figures.first { $0.metric == "arrival_rate" }?.value ?? 0 > 0)
    }

    @Test func `no rate holds that a backend does not keep up with, whatever the bound`() throws {
        let report = try report(
            #"{"rate": "search", "duration_ns": 1000000, "bound_ns": 10000000000, "work_ns": 0}"#,
            ScriptedBackend.factory(.none))
        #expect(report.status == .ok)
        #expect(!report.figures.contains { $0.metric == "sustained_rate" || $0.metric == "intended_latency" })
    }

    @Test func `without a capacity there is no load, and no figure`() throws {
        let report = try report(
            #"{"load": 0.5, "duration_ns": 1000000, "work_ns": 0}"#, ScriptedBackend.factory(.none))
        #expect(report.status == .ok)
        #expect(!report.notes.isEmpty)
        #expect(report.figures.allSatisfy { $0.phase == "warmup" })
    }

    @Test func `a load is a part of the capacity that the sample has measured`() throws {
        let report = try report(#"{"load": 0.5, "duration_ns": 20000000, "work_ns": 0}"#, EngineBackend.factory)
        #expect(report.status == .ok)
        // On a machine that stands still there is none.
        guard let capacity = report.figures.first(where: { $0.metric == "capacity" }) else {
            #expect(!report.notes.isEmpty)
            return
        }
        let operations = report.figures.first { $0.metric == "intended_latency" }?.operations
        #expect(operations == Int((0.5 * capacity.value).rounded() * 0.02))
    }
}

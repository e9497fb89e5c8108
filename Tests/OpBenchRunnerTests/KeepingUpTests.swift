import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

@Suite struct KeepingUpTests {
    /// One arrival per microsecond; the closure gives each operation's end, from the first arrival.
    private func keepingUp(_ count: Int = 1000, ends: (Int64) -> Int64) -> KeepingUp {
        let arrivals = (0..<count).map { Int64($0) * 1000 }
        return KeepingUp(arrivals: arrivals, ends: arrivals.map(ends))
    }

    @Test func `a queue that ends a third of the arrivals is overloaded, as both rates show`() {
        let found = keepingUp { 3 * $0 + 500 }
        #expect(found.isOverloaded)
        #expect(found.rates?.arrival == 1e6)
        #expect(found.rates?.completion == 333e9 / 999_000)
    }

    @Test func `a queue that is a tenth too slow is overloaded, however soon the first operations end`() {
        #expect(keepingUp { $0 + $0 / 9 }.isOverloaded)
    }

    @Test func `a queue that keeps up is not overloaded, even if it stalls for a while`() {
        let found = keepingUp { $0 + 1500 }
        #expect(!found.isOverloaded)
        #expect(found.rates.map { abs($0.completion / 1e6 - 1) < 0.01 } == true)
        // In the middle, and at the end.
        #expect(!keepingUp { (450_000..<650_000).contains($0) ? 650_000 : $0 + 1 }.isOverloaded)
        #expect(!keepingUp { $0 > 900_000 ? 1_200_000 : $0 + 1 }.isOverloaded)
    }

    @Test func `a few operations that are all still running show nothing`() {
        #expect(!keepingUp(20) { $0 + 1_000_000 }.isOverloaded)
        #expect(KeepingUp(arrivals: [0], ends: [50]).rates == nil)
    }

    @Test func `the majority of rounds decides for the sample`() {
        let (over, under) = (keepingUp { 3 * $0 + 500 }, keepingUp { $0 + 1 })
        #expect(!over.merged(with: under).isOverloaded)
        #expect(over.merged(with: under).merged(with: over).isOverloaded)
        #expect(over.merged(with: under).rates?.arrival == 1e6)
    }
}

/// The scripted backend runs nothing before it is drained, so it keeps up with no rate.
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
        #expect(report.flags.contains(.overloaded))
        #expect(report.figures.first { $0.metric == "completion_rate" }?.value == 0)
        #expect(report.figures.first { $0.metric == "arrival_rate" }?.value ?? 0 > 0)
    }

    @Test func `a rate that a backend does not keep up with never holds, whatever the bound`() throws {
        let report = try report(
            #"{"rate": "search", "duration_ns": 1000000, "bound_ns": 10000000000, "work_ns": 0}"#,
            ScriptedBackend.factory(.none))
        #expect(report.status == .ok)
        #expect(!report.figures.contains { $0.metric == "sustained_rate" || $0.metric == "intended_latency" })
    }

    @Test func `without a capacity there is neither load nor figure`() throws {
        let report = try report(
            #"{"load": 0.5, "duration_ns": 1000000, "work_ns": 0}"#, ScriptedBackend.factory(.none))
        #expect(report.status == .ok)
        #expect(!report.notes.isEmpty)
        #expect(report.figures.allSatisfy { $0.phase == "warmup" })
    }

    @Test func `a load is a part of the sample's measured capacity`() throws {
        let report = try report(#"{"load": 0.5, "duration_ns": 20000000, "work_ns": 0}"#, EngineBackend.factory)
        #expect(report.status == .ok)
        // On a stalled machine there is none.
        guard let capacity = report.figures.first(where: { $0.metric == "capacity" }) else {
            #expect(!report.notes.isEmpty)
            return
        }
        let operations = report.figures.first { $0.metric == "intended_latency" }?.operations
        #expect(operations == Int((0.5 * capacity.value).rounded() * 0.02))
    }
}

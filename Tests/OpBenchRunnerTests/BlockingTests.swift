import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

@Suite(.serialized, .onOwnThreads) struct BlockedOperationTests {
    private func plan(_ parameters: String) throws -> WorkloadPlan { try Fixture.plan("blocking", parameters) }

    @Test(arguments: [
        // All at once, in turns of the limit, and an incomplete last turn.
        (#"{"operations": 10, "block_ns": 1000}"#, 1000),
        (#"{"operations": 10, "block_ns": 1000, "max_concurrent": 5}"#, 2000),
        (#"{"operations": 11, "block_ns": 1000, "max_concurrent": 5}"#, 3000),
        (#"{"operations": 3, "block_ns": 1000, "max_concurrent": 5}"#, 1000),
        // Two slots for each pair.
        (#"{"operations": 10, "kind": "wait", "block_ns": 1000, "max_concurrent": 4}"#, 3000),
        (#"{"operations": 10, "kind": "wait", "block_ns": 1000, "max_concurrent": 5}"#, 3000),
        (#"{"operations": 10, "kind": "wait", "block_ns": 1000}"#, 1000),
        // Work next to the sleep, and more work than two processors can do meanwhile.
        (#"{"operations": 10, "block_ns": 1000, "work_ns": 100, "max_concurrent": 5}"#, 2200),
        (#"{"operations": 10, "block_ns": 1000, "work_ns": 1000}"#, 5000),
    ])
    func `the ideal makespan`(_ parameters: String, _ ideal: Int) throws {
        #expect(try plan(parameters).idealBlockedMakespan(processors: 2) == ideal)
    }

    @Test func `other plans have no ideal makespan`() throws {
        #expect(try Fixture.plan("independent").idealBlockedMakespan(processors: 2) == nil)
    }

    @Test func `the first of each pair waits for the second; an odd one does not`() throws {
        let plan = try plan(#"{"operations": 5, "kind": "wait"}"#)
        let waiting = try #require(plan.blocking)
        let sleeping = try #require(self.plan(#"{"operations": 5}"#).blocking)
        #expect((0..<5).map { waiting.partner(of: $0, among: 5) } == [1, nil, 3, nil, nil])
        #expect((0..<5).map { waiting.expectedMark(of: $0, among: 5) } == [2, 1, 2, 1, 1])
        #expect((0..<5).allSatisfy { sleeping.partner(of: $0, among: 5) == nil })
    }

    @Test func `a warm-up sleeps little`() throws {
        let short = try plan(#"{"operations": 500, "block_ns": 1000000000}"#).shortened(to: 1000)
        #expect(short.operationCount == 16)
        #expect(short.blocking?.nanoseconds == 100_000)
    }

    @Test func `an operation that did not wait for its partner is detected`() throws {
        let report = Trial(
            plan: try plan(#"{"operations": 6, "kind": "wait", "block_ns": 1000}"#),
            factory: ScriptedBackend.factory(.none), flavour: .throughput, kernel: Fixture.kernel,
            targetNanoseconds: 1000
        ).run()
        #expect(report.status == .invalid)
    }

    @Test func `a plain loop sleeps for each operation in turn, which its ratio shows`() throws {
        let report = Trial(
            plan: try plan(#"{"operations": 5, "block_ns": 20000}"#), factory: SerialBackend.factory,
            flavour: .throughput, kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
        let ratio = try #require(report.figures.first { $0.metric == "makespan_ratio" })
        #expect(ratio.value >= 5 && ratio.phase == "makespan")
    }
}

@Suite(.serialized, .onOwnThreads) struct MemoryFenceTests {
    private func report(_ flavour: SampleFlavour, _ parameters: String) throws -> SampleReport {
        Trial(
            plan: try Fixture.plan("memory_fence", parameters), factory: EngineBackend.factory, flavour: flavour,
            kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
    }

    @Test func `releasing is the drain and the teardown`() throws {
        let report = try report(.throughput, #"{"operations": 100}"#)
        func time(_ phase: String) throws -> Double {
            try #require(report.figures.first { $0.metric == "time" && $0.phase == phase }).value
        }
        let release = try #require(report.figures.first { $0.metric == "release_time" }).value
        #expect(abs(release - (try time("drain") + time("teardown"))) < 1e-9)
    }

    @Test func `page faults of releasing are counted, but only for this shape`() throws {
        func phases(_ report: SampleReport) -> Set<String> {
            Set(report.figures.filter { $0.metric == "page_faults" }.map(\.phase))
        }
        #expect(phases(try report(.throughput, #"{"operations": 100}"#)).isSuperset(of: ["released", "total"]))
        let other = Trial(
            plan: try Fixture.plan("independent", #"{"items": 100}"#), factory: EngineBackend.factory,
            flavour: .throughput, kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
        #expect(phases(other) == ["total"])
    }

    /// Sizes that are the allocator's own size classes; the system's malloc(3) adds up to 8 bytes.
    @Test(arguments: [16, 64, 1024, 4096]) func `a payload is one allocation of exactly its size`(_ bytes: Int) {
        // The size allocated by malloc(3), less the header.
        let capacity = Payload.make(bytes: bytes).capacity
        #expect((bytes...bytes + 8).contains(capacity + 16))
    }

    @Test func `a closure keeps its payload as long as it lives`() throws {
        let plan = try Fixture.plan("memory_fence", #"{"operations": 1}"#)
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .marked)
        defer { body.deallocate() }
        weak var kept: AnyObject?
        do {
            let payload = Payload.make(bytes: 64)
            kept = payload
            let closure = body.closure(0, keeping: payload)
            closure()
            #expect(kept != nil)
        }
        #expect(kept == nil)
        #expect(body.slot(0) == 1)
    }
}

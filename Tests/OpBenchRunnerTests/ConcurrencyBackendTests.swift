import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

@Suite(.serialized) struct ConcurrencyBackendTests {
    private static let limited = [
        ("independent", #""items": 200, "work_ns": 2000"#),
        ("independent", #""items": 200, "submission": "refill", "window": 50, "work_ns": 2000"#),
        ("chain", #""depth": 20, "chains": 10, "work_ns": 2000"#),
        ("graph", #""kind": "layered_random", "width": 20, "layers": 10, "work_ns": 2000"#),
        ("suspend_resume", #""operations": 200, "toggles": 2, "run_ns": 20000, "hold_ns": 20000, "work_ns": 2000"#),
        ("observers", #""operations": 200, "observers": 2, "work_ns": 2000"#),
        ("asynchronous", #""operations": 200, "work_ns": 2000"#),
        ("asynchronous", #""operations": 200, "ended_by": "itself", "work_ns": 2000"#),
    ]

    @Test(arguments: limited.indices, [1, 3]) func `never more at once than the limit`(
        _ index: Int, _ limit: Int
    ) async throws {
        let (shape, parameters) = Self.limited[index]
        for factory in [ConcurrencyBackend.factory, ConcurrencyBackend.group] {
            let report = try await Fixture.report(
                factory, .check, shape, "{\(parameters), \"max_concurrent\": \(limit)}")
            guard report.status != .unsupported else { continue }
            #expect(report.status == .ok)
            let highWater = try #require(report.figures.first { $0.metric == "high_water" }?.value)
            #expect(highWater >= 1 && highWater <= Double(limit), "\(factory.id.rawValue)")
        }
    }

    /// A task that is held cannot be waited for, but a body that ran anyway would most likely have been counted by the
    /// time that all others were submitted.
    @Test(arguments: [
        #"{"items": 300}"#, #"{"items": 300, "max_concurrent": 1}"#, #"{"items": 300, "max_concurrent": 2}"#,
    ])
    func `nothing runs before the release, and everything after it`(_ parameters: String) async throws {
        var plan = try Fixture.plan("independent", parameters)
        plan.startsSuspended = true
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .checked)
        defer { body.deallocate() }
        let backend = ConcurrencyBackend.factory.make(plan, body)
        let runsBefore = await Fixture.onOwnThread {
            backend.build()
            backend.submit(0..<300)
            defer {
                backend.release()
                backend.drain()
            }
            return body.countedRuns
        }
        #expect(runsBefore == 0)
        #expect(body.countedRuns == 300 && plan.violations(of: body.traces).isEmpty)
        backend.teardown()
    }

    @Test(arguments: [
        ("observers", #"{"operations": 300}"#), ("block_groups", #"{"groups": 100, "blocks": 3}"#),
        ("asynchronous", #"{"operations": 300}"#),
    ]) func `the shapes about single features have tasks that wait for their release`(
        _ shape: String, _ parameters: String
    ) async throws {
        var plan = try Fixture.plan(shape, parameters)
        plan.startsSuspended = true
        guard case .full = ConcurrencyBackend.factory.supports(plan) else {
            Issue.record("\(shape) is not supported")
            return
        }
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .checked)
        defer { body.deallocate() }
        let backend = ConcurrencyBackend.factory.make(plan, body)
        let runsBefore = await Fixture.onOwnThread {
            backend.build()
            backend.submit(0..<300)
            defer {
                backend.release()
                backend.drain()
                backend.teardown()
            }
            return body.countedRuns
        }
        #expect(runsBefore == 0)
        #expect(plan.violations(of: body.traces).isEmpty)
    }

    @Test func `a task keeps its payload while it runs`() async throws {
        final class Counted: Sendable {
            let gone: Flag
            init(_ gone: Flag) { self.gone = gone }
            deinit { gone.set() }
        }
        let gone = Flag()
        let wasKept = Flag()
        let lane = TaskLane(
            limit: nil, canBeHeld: false, isHeld: false, body: { _ in if !gone.isSet { wasKept.set() } },
            after: { _ in })
        await lane.submit(0, keeping: Counted(gone)).value
        withExtendedLifetime(lane) {}
        #expect(wasKept.isSet)
    }

    @Test func `on an actor, urgent tasks do not wait for the others`() async throws {
        // Work takes much longer than submitting, so there is always a choice.
        let parameters = #"{"operations": 2000, "max_concurrent": 1, "work_ns": 20000}"#
        let report = try await Fixture.report(ConcurrencyBackend.factory, .latency, "priority_mix", parameters)
        func median(_ level: String) throws -> Double {
            let row = report.figures.first {
                $0.metric == "start_latency" && $0.stat == "p50" && $0.operationClass == "priority=\(level)"
            }
            return try #require(row).value
        }
        #expect(try median("very_high") < median("very_low"))
    }

    @Test func `inexpressible plans are reported`() throws {
        var lines: [String] = []
        for (id, shape, parameters) in [
            ("concurrency", "chain", #"{"queues": 2}"#), ("concurrency", "blocking", "{}"),
            ("concurrency:group", "chain", "{}"), ("concurrency", "priority_mix", #"{"max_concurrent": 2}"#),
        ] {
            let factory = try #require(BackendFactory.named(BackendID(rawValue: id)))
            guard case .unsupported(let reason) = factory.supports(try Fixture.plan(shape, parameters)) else {
                Issue.record("\(id) supports \(shape) \(parameters)")
                continue
            }
            lines.append("\(id), \(shape) \(parameters): \(reason)")
        }
        Golden("concurrency-backends").expect(lines.joined(separator: "\n"), "unsupported")
    }
}

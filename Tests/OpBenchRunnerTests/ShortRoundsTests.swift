import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

/// Rounds that end while a thread is still in the call that submitted their last operation: the backend is then freed,
/// and must not be accessed.
@Suite(.onOwnThreads) struct ShortRoundsTests {
    private static let plans = [
        ("chain", #"{"depth": 3, "chains": 2, "queues": 2, "max_concurrent": 2, "work_ns": 0}"#),
        ("chain", #"{"depth": 3, "chains": 2, "queues": 2, "work_ns": 0}"#),
        ("chain", #"{"depth": 3, "chains": 2, "work_ns": 0}"#),
        ("graph", #"{"kind": "layered_random", "width": 3, "layers": 3, "degree": 2, "work_ns": 0}"#),
        (
            "graph",
            #"{"kind": "layered_random", "width": 3, "layers": 3, "degree": 2, "max_concurrent": 2, "work_ns": 0}"#
        ),
        ("independent", #"{"items": 12, "submission": "refill", "window": 4, "work_ns": 0}"#),
        ("independent", #"{"items": 12, "submission": "refill", "window": 4, "max_concurrent": 2, "work_ns": 0}"#),
    ]
    private static let factories =
        [
            DispatchBackend.factory, DispatchBackend.notify, DispatchBackend.function, ConcurrencyBackend.factory,
        ] + EngineBackend.factories

    @Test(arguments: plans.indices) func `a round may end before its submitting calls`(_ index: Int) throws {
        let plan = try Fixture.plan(Self.plans[index].0, Self.plans[index].1)
        for factory in Self.factories {
            guard case .full = factory.supports(plan) else { continue }
            let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .marked)
            defer { body.deallocate() }
            for _ in 0..<500 {
                body.reset()
                var backend: (any RoundBackend)? = factory.make(plan, body)
                backend?.build()
                backend?.submit(0..<plan.operationCount)
                backend?.drain()
                #expect(plan.violations(of: body.traces).isEmpty, "\(factory.id.rawValue)")
                backend?.teardown()
                backend = nil
            }
        }
    }
}

import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

extension BackendFactory {
    /// A backend that executes every shape in one way.
    init(
        id: BackendID, guarantees: BackendGuarantees, support: @escaping @Sendable (WorkloadPlan) -> Support,
        canHoldPending: @escaping @Sendable (WorkloadPlan) -> Bool,
        make: @escaping @Sendable (WorkloadPlan, OperationBody) -> any RoundBackend
    ) {
        let way = Way(support: support, canHoldPending: canHoldPending, make: make)
        self.init(
            id: id, guarantees: guarantees, ways: Dictionary(uniqueKeysWithValues: Shape.allCases.map { ($0, way) }))
    }

    func make(_ plan: WorkloadPlan, _ body: OperationBody) -> any RoundBackend { maker(for: plan)(plan, body) }
}

/// Workloads, folders and reports for tests.
enum Fixture {
    /// A workload as its file would be read, with `parameters` in JSON.
    static func spec(
        _ shape: String, _ parameters: String = "{}", name: String = "w", backends: [String] = ["engine"],
        more: String = ""
    ) throws -> WorkloadSpec {
        let folder = try folder()
        let file = "\(folder)/\(name).json"
        let text = """
            {"name": "\(name)", "summary": "a test", "shape": "\(shape)", "parameters": \(parameters),
             "backends": [\(backends.map { "\"\($0)\"" }.joined(separator: ", "))]\(more)}
            """
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return try WorkloadSpec.load(file: file)
    }

    static func cell(_ shape: String, _ parameters: String = "{}") throws -> Cell {
        try #require(spec(shape, parameters).cells.first)
    }

    static func plan(_ shape: String, _ parameters: String = "{}") throws -> WorkloadPlan {
        WorkloadPlan(try cell(shape, parameters))
    }

    /// The report of a sample taken as in its own process: on a thread outside Swift's pool, which waiting tests would
    /// otherwise keep from the tasks that they wait for.
    static func report(
        _ factory: BackendFactory, _ flavour: SampleFlavour, _ shape: String, _ parameters: String
    ) async throws -> SampleReport {
        let trial = Trial(
            plan: try plan(shape, parameters), factory: factory, flavour: flavour, kernel: kernel,
            targetNanoseconds: 1000)
        // Foundation rarely loses a wake-up (see E25 in the list of differences). Such a sample hangs, in one of very
        // many runs of all tests: it is taken again, and its threads are left alone.
        return await onOwnThread {
            let first = factory.id == .foundation ? valueUnlessItHangs { trial.run() } : nil
            return first ?? trial.run()
        }
    }

    /// Runs the body on its own thread, and returns its result.
    static func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            _ = OwnThread { continuation.resume(returning: body()) }
        }
    }

    /// A new empty folder.
    static func folder() throws -> String { try TemporaryFolder.make() }

    /// A kernel that needs no calibration.
    static let kernel = WorkKernel(iterationsPerNanosecond: 0.5)

    /// The shapes to test on a backend: all, or every fifth in a short run. A shape is tested by checks and a third of the
    /// other flavours, so that every backend meets every flavour and every shape; by all in a deep run.
    static func triedShapes(
        on id: BackendID
    ) -> [(shape: String, parameters: String, flavours: [SampleFlavour])] {
        let backend = BackendFactory.all.firstIndex { $0.id == id } ?? 0
        return stride(from: 0, to: shapes.count, by: Scale.isShort ? 5 : 1).map { index in
            let flavours = SampleFlavour.allCases.enumerated().filter { place, flavour in
                Scale.isDeep || flavour == .check || (index + backend + place).isMultiple(of: 3)
            }
            return (shapes[index].shape, shapes[index].parameters, flavours.map(\.element))
        }
    }

    /// Thirty operations in two queues, with two priorities: three of them follow others, one of which arrives later,
    /// one is cancelled, and the last two follow that one.
    static let recorded = #"""
        {"limits": [2, 0], "gaps_ns": ["0 20000*29"], "cpu_ns": ["1000*30"], "wait_ns": ["0*10 20000*5 0*15"],
         "queue": ["0*15 1*15"], "priority": ["0*5 4*10 0*12 -8 0*2"], "dependency_steps": [3, 1, 4, 20, 1],
         "dependency_distances": [1, 4, -2, 8, 1], "cancellation_steps": [20], "cancellation_delays_ns": [1000]}
        """#

    /// A tiny cell of every shape, and of every path through a shape.
    static let shapes: [(shape: String, parameters: String)] = [
        ("independent", #"{"items": 100, "items_per_operation": 7, "work_ns": 10}"#),
        ("independent", #"{"items": 60, "form": "block", "producers": 3, "max_concurrent": 2, "work_ns": 0}"#),
        ("independent", #"{"items": 60, "form": "subclass", "max_concurrent": 1, "work_ns": 0}"#),
        ("independent", #"{"items": 60, "submission": "bulk", "max_concurrent": 3, "work_ns": 0}"#),
        ("independent", #"{"items": 60, "submission": "bulk", "form": "subclass", "producers": 2, "work_ns": 0}"#),
        ("independent", #"{"items": 60, "submission": "refill", "window": 7, "producers": 2, "work_ns": 0}"#),
        ("independent", #"{"items": 60, "submission": "refill", "window": 7, "form": "subclass", "work_ns": 0}"#),
        ("independent", #"{"items": 60, "submission": "refill", "window": 8, "max_concurrent": 2, "work_ns": 0}"#),
        ("chain", #"{"depth": 12, "chains": 3, "work_ns": 0}"#),
        ("chain", #"{"depth": 12, "chains": 3, "order": "reverse", "max_concurrent": 1, "work_ns": 0}"#),
        ("chain", #"{"depth": 12, "chains": 2, "queues": 2, "order": "reverse", "work_ns": 0}"#),
        ("chain", #"{"depth": 12, "chains": 2, "queues": 3, "max_concurrent": 2, "work_ns": 0}"#),
        ("graph", #"{"kind": "fan_out", "width": 20, "work_ns": 0}"#),
        ("graph", #"{"kind": "fan_in", "width": 20, "order": "reverse", "work_ns": 0}"#),
        ("graph", #"{"kind": "diamond", "width": 5, "layers": 4, "max_concurrent": 1, "work_ns": 0}"#),
        ("graph", #"{"kind": "binary_tree", "layers": 5, "order": "reverse", "work_ns": 100}"#),
        ("graph", #"{"kind": "wavefront", "width": 6, "layers": 7, "max_concurrent": 2, "work_ns": 0}"#),
        ("graph", #"{"kind": "layered_random", "width": 8, "layers": 5, "degree": 3, "order": "reverse"}"#),
        ("priority_mix", #"{"operations": 60, "work_ns": 100}"#),
        ("priority_mix", #"{"operations": 60, "enqueue": "live", "max_concurrent": 1, "work_ns": 100}"#),
        ("priority_mix", #"{"operations": 60, "max_concurrent": 1, "work_ns": 0}"#),
        ("thread_priority", #"{"operations": 20, "work_ns": 1000, "competitors": 1}"#),
        ("suspend_resume", #"{"operations": 400, "toggles": 3, "run_ns": 20000, "hold_ns": 50000, "work_ns": 500}"#),
        (
            "suspend_resume",
            #"""
            {"operations": 400, "toggles": 3, "run_ns": 20000, "hold_ns": 50000, "producers": 2, "max_concurrent": 2}
            """#
        ),
        ("wakeup", #"{"operations": 12}"#),
        ("wakeup", #"{"operations": 13, "burst": 3, "pause_ns": 20000, "work_ns": 100, "max_concurrent": 1}"#),
        ("wakeup", #"{"operations": 12, "burst": 4, "pause_ns": 1000, "max_concurrent": 2}"#),
        ("wakeup", #"{"operations": 12, "pause_ns": 2000, "pause_by": "spin", "max_concurrent": 1}"#),
        ("wakeup", #"{"operations": 12, "stall_ns": 100000, "max_concurrent": 1}"#),
        ("open_loop", #"{"rate": 20000, "duration_ns": 2000000}"#),
        ("open_loop", #"{"rate": 20000, "duration_ns": 2000000, "arrivals": "constant", "max_concurrent": 1}"#),
        ("open_loop", #"{"rate": 20000, "duration_ns": 2000000, "stall_ns": 200000, "stalls": "submitter"}"#),
        ("open_loop", #"{"rate": 20000, "duration_ns": 2000000, "stall_ns": 200000, "max_concurrent": 2}"#),
        ("open_loop", #"{"rate": "search", "duration_ns": 1000000, "bound_ns": 10000000000, "work_ns": 0}"#),
        ("replay", "{}"),
        ("replay", #"{"recording": {"gaps_ns": ["0*40"], "cpu_ns": ["100*40"], "limits": [1]}, "speed": 2}"#),
        ("replay", #"{"recording": \#(recorded), "priorities": "ignored", "speed": 2}"#),
        ("replay", #"{"recording": \#(recorded), "limit": 1}"#),
        ("replay", #"{"recording": \#(recorded), "queue": 1, "limit": 2}"#),
        ("cancel_storm", #"{"operations": 60, "work_ns": 0}"#),
        ("cancel_storm", #"{"operations": 60, "call": "all", "max_concurrent": 1}"#),
        ("cancel_storm", #"{"operations": 60, "producers": 3, "max_concurrent": 2, "work_ns": 0}"#),
        ("cancel_storm", #"{"operations": 60, "enqueue": "live", "cancelled_percent": 90, "work_ns": 100}"#),
        ("cancel_storm", #"{"operations": 60, "enqueue": "live", "call": "all", "producers": 2}"#),
        ("blocking", #"{"operations": 6, "block_ns": 20000}"#),
        ("blocking", #"{"operations": 6, "block_ns": 20000, "max_concurrent": 2, "work_ns": 1000}"#),
        ("blocking", #"{"operations": 5, "block_ns": 20000, "max_concurrent": 1}"#),
        ("blocking", #"{"operations": 7, "kind": "wait", "block_ns": 20000}"#),
        ("blocking", #"{"operations": 6, "kind": "wait", "block_ns": 20000, "max_concurrent": 3}"#),
        ("observers", #"{"operations": 60, "observers": 0}"#),
        ("observers", #"{"operations": 60, "observers": 3}"#),
        ("observers", #"{"operations": 60, "max_concurrent": 1}"#),
        ("barriers", #"{"operations": 63, "every": 5}"#),
        ("barriers", #"{"operations": 60, "every": 1, "max_concurrent": 1, "work_ns": 0}"#),
        ("barriers", #"{"operations": 60, "every": 7, "max_concurrent": 3}"#),
        ("barriers", #"{"operations": 20, "every": 30}"#),
        ("block_groups", #"{"groups": 10, "blocks": 6}"#),
        ("block_groups", #"{"groups": 10, "blocks": 1, "max_concurrent": 1, "work_ns": 0}"#),
        ("block_groups", #"{"groups": 10, "blocks": 3, "max_concurrent": 2}"#),
        ("asynchronous", #"{"operations": 60}"#),
        ("asynchronous", #"{"operations": 60, "max_concurrent": 3, "work_ns": 100}"#),
        ("asynchronous", #"{"operations": 60, "ended_by": "itself", "max_concurrent": 1}"#),
        ("asynchronous", #"{"operations": 60, "ended_by": "itself"}"#),
        ("manual_start", #"{"operations": 60}"#),
        ("manual_start", #"{"operations": 60, "form": "block", "producers": 3, "work_ns": 100}"#),
        ("memory_fence", #"{"operations": 60}"#),
        ("memory_fence", #"{"operations": 60, "form": "block", "payload_bytes": 100, "max_concurrent": 2}"#),
        ("memory_fence", #"{"operations": 60, "form": "subclass", "payload_bytes": 5}"#),
    ]
}

import OpBenchModel
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

/// `Metric.kinds`, from which a gate learns the samples that it needs, matches the samples' reports.
struct MetricKindsTests {
    private static let cells: [(shape: String, parameters: String)] = [
        ("independent", #"{"items": 60, "items_per_operation": 7, "work_ns": 10}"#),
        ("graph", #"{"kind": "diamond", "width": 5, "layers": 4}"#),
        ("priority_mix", #"{"operations": 60, "work_ns": 0}"#),
        ("suspend_resume", #"{"operations": 100, "toggles": 2, "run_ns": 20000, "hold_ns": 20000, "work_ns": 0}"#),
        ("blocking", #"{"operations": 4, "block_ns": 1000}"#), ("memory_fence", #"{"operations": 50}"#),
        ("open_loop", #"{"rate": 10000, "duration_ns": 2000000, "work_ns": 0}"#),
    ]

    @Test("every figure that can be better or worse", arguments: cells)
    func kinds(shape: String, parameters: String) async throws {
        var reported = 0
        for flavour in SampleFlavour.allCases where flavour != .calls {
            guard ShapeDefinition.of(Shape(rawValue: shape)!).kinds.contains(flavour.kind) else { continue }
            let report = try await Fixture.report(EngineBackend.factory, flavour, shape, parameters)
            // All samples report the length of their warm-up, which is not judged.
            for figure in report.figures where figure.phase != "warmup" {
                guard let metric = Metric.named(figure.metric), metric.direction != .neutral else { continue }
                reported += 1
                #expect(metric.kinds.contains(flavour.kind), "\(figure.metric) in a \(flavour.rawValue) sample")
            }
        }
        #expect(reported > 0)
    }
}

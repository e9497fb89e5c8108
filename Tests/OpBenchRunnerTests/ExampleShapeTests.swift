import Foundation
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchModel
@testable import OpBenchRunner

/// The worked example of the guide "Adding a shape": a shape made of existing features of backends, in a single file.
@Suite(.serialized, .onOwnThreads) struct ExampleShapeTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func cell(width: Int) -> Cell {
        Cell(workload: "w", definition: .fanIn, values: ["width": .integer(width), "work_ns": .integer(0)])
    }

    @Test func `the guide shows the code that is tested here`() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        }
        let source = try text("Tests/OpBenchRunnerTests/Examples/FanIn.swift")
        let start = try #require(source.range(of: "// example: fan-in\n"))
        let end = try #require(source.range(of: "// end of example\n"))
        let code = source[start.upperBound..<end.lowerBound]
        #expect(try text("Sources/opbench/opbench.docc/AddingAShape.md").contains("```swift\n\(code)```"))
    }

    @Test func `its plan equals the graph's`() throws {
        let plan = ShapeDefinition.fanIn.plan(of: cell(width: 20))
        let graph = try Fixture.plan("graph", #"{"kind": "fan_in", "width": 20, "work_ns": 0}"#)
        #expect(plan.graph?.predecessors == graph.graph?.predecessors && plan.operationCount == 21)
        #expect(ShapeDefinition.fanIn.plan(of: ShapeDefinition.fanIn.sketch(cell(width: 20))).operationCount == 2)
    }

    @Test(arguments: BackendFactory.all.map(\.id)) func `every backend executes it like a graph`(
        id: BackendID
    ) throws {
        let factory = try #require(BackendFactory.named(id))
        let plan = ShapeDefinition.fanIn.plan(of: cell(width: 20))
        #expect(factory.supports(plan) == factory.supports(try Fixture.plan("graph")))
        guard case .full = factory.supports(plan) else { return }
        let report = Trial(
            plan: plan, factory: factory, flavour: .throughput, kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
        #expect(report.status == .ok, "\(report.notes)")
    }

    @Test func `a feature that no backend has yet is rejected, whatever the backend`() {
        var plan = ShapeDefinition.fanIn.plan(of: cell(width: 2))
        plan.way = Shape("a new one")
        for factory in BackendFactory.all {
            guard case .unsupported = factory.supports(plan) else {
                Issue.record("\(factory.id.rawValue) supports a feature that it has no code for")
                continue
            }
        }
    }
}

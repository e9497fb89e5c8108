@testable import OpBenchModel

// The worked example of the guide "Adding a shape", which shows the lines below.

// example: fan-in
extension Shape { static let fanIn = Shape("fan_in") }

extension ShapeDefinition {
    /// One operation that waits for all others.
    static let fanIn = ShapeDefinition(
        shape: .fanIn, executedAs: .graph,
        summary: "Operations without order, and one that waits for all of them.",
        parameters: [
            .count("width", 1...1_000_000, 1000, "Operations that the last one waits for.")
        ] + common(work: 100),
        operationCount: { $0.integer("width") + 1 },
        estimate: RoundEstimate(hasDependencies: true),
        sketch: { $0.reduced(["width"]) },
        plan: { cell, plan in
            let size = GraphSize(kind: .fanIn, width: cell.integer("width"), layers: 1, degree: 1)
            plan.graph = DependencyGraph(size, seed: cell.integer("seed"))
        })
}
// end of example

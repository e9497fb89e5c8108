extension Shape { public static let graph = Shape("graph") }

extension ShapeDefinition {
    /// Operations with any number of predecessors: how well a graph is scheduled.
    static let graph = ShapeDefinition(
        shape: .graph,
        summary: "Operations that form a graph of dependencies, of a kind whose work and span are known.",
        parameters: [
            .choice(
                "kind", GraphKind.allCases.map(\.rawValue),
                "fan_out: `width` operations wait for one. fan_in: one waits for `width`. diamond: `layers` times one, "
                    + "`width` and one again, end to end. binary_tree: `layers` levels, two operations wait for each one "
                    + "above. wavefront: `layers` rows of `width`, each operation waits for the one above and the one "
                    + "beside it. layered_random: `layers` rows of `width`, each operation waits for `degree` drawn from "
                    + "the row above."),
            .count("width", 1...operationLimit, 100, "Operations side by side; not used by binary_tree."),
            .count("layers", 1...operationLimit, 10, "Rows, levels or repetitions; not used by fan_out and fan_in."),
            .count(
                "degree", 1...10_000, 2,
                "Predecessors of an operation, at most `width`; used by layered_random only, which draws by `seed`."),
            .choice(
                "order", ["forward", "reverse"],
                "The order of adding: each operation after its predecessors, or before them."),
        ] + common(work: 1000),
        operationCount: { GraphSize($0).operationCount },
        problem: { cell in
            let dependencies = GraphSize(cell).dependencyCount
            guard dependencies > GraphSize.dependencyLimit else { return nil }
            return (
                "it has \(dependencies) dependencies",
                "a cell has at most \(GraphSize.dependencyLimit) dependencies"
            )
        },
        estimate: RoundEstimate(hasDependencies: true), sketch: { $0.reduced(["width", "layers"]) },
        plan: { cell, plan in
            plan.graph = DependencyGraph(GraphSize(cell), seed: cell.integer("seed"))
            plan.isReversed = cell.text("order") == "reverse"
        })
}

extension GraphSize {
    fileprivate init(_ cell: Cell) {
        self.init(
            kind: GraphKind(rawValue: cell.text("kind")) ?? .fanOut, width: cell.integer("width"),
            layers: cell.integer("layers"), degree: cell.integer("degree"))
    }
}

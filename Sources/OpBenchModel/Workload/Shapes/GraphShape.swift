/// The kinds of graph by their names in workload files.
public enum GraphKind: String, CaseIterable, Sendable {
    case fanOut = "fan_out"
    case fanIn = "fan_in"
    case diamond
    case binaryTree = "binary_tree"
    case wavefront
    case layeredRandom = "layered_random"
}

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
                "The order of adding: each operation after those it waits for, or before them."),
        ] + common(work: 1000),
        operationCount: { GraphSize($0).operationCount },
        problem: { cell in
            let dependencies = GraphSize(cell).dependencyCount
            guard dependencies > GraphSize.dependencyLimit else { return nil }
            return (
                "it has \(dependencies) dependencies",
                "a cell has at most \(GraphSize.dependencyLimit) dependencies"
            )
        })
}

/// How large a graph is, without making it. Counts that no Int holds are `Int.max`.
public struct GraphSize: Sendable, Equatable {
    public var kind: GraphKind
    public var width: Int
    public var layers: Int
    public var degree: Int

    /// Reads a cell of the shape `graph`.
    public init(_ cell: Cell) {
        kind = GraphKind(rawValue: cell.text("kind")) ?? .fanOut
        width = cell.integer("width")
        layers = cell.integer("layers")
        degree = cell.integer("degree")
    }

    /// The greatest number of dependencies in one cell: what beside its operations some gigabytes hold.
    public static let dependencyLimit = 50_000_000

    public var operationCount: Int {
        switch kind {
        case .fanOut, .fanIn: width + 1
        case .diamond: Self.product(layers, width + 1, plus: 1)
        case .binaryTree: layers < 63 ? (1 << layers) - 1 : Int.max
        case .wavefront, .layeredRandom: Self.product(layers, width)
        }
    }

    public var dependencyCount: Int {
        switch kind {
        case .fanOut, .fanIn: width
        case .diamond: Self.product(layers, 2 * width)
        case .binaryTree: operationCount - 1
        case .wavefront:
            // Down from every row but the last, and across in every row.
            Self.product(layers - 1, width, plus: Self.product(layers, width - 1))
        case .layeredRandom: Self.product(layers - 1, Self.product(width, min(degree, width)))
        }
    }

    private static func product(_ left: Int, _ right: Int, plus rest: Int = 0) -> Int {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        let (sum, overflowed) = product.addingReportingOverflow(rest)
        return overflow || overflowed ? Int.max : sum
    }
}

/// The kinds of graph by their names in workload files.
public enum GraphKind: String, CaseIterable, Sendable {
    case fanOut = "fan_out"
    case fanIn = "fan_in"
    case diamond
    case binaryTree = "binary_tree"
    case wavefront
    case layeredRandom = "layered_random"
}

/// How large a graph is, without making it. Counts that no Int holds are `Int.max`.
public struct GraphSize: Sendable, Equatable {
    public var kind: GraphKind
    public var width: Int
    public var layers: Int
    public var degree: Int

    public init(kind: GraphKind, width: Int, layers: Int, degree: Int) {
        (self.kind, self.width, self.layers, self.degree) = (kind, width, layers, degree)
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
        var (product, overflow) = left.multipliedReportingOverflow(by: right)
        product.addClamped(rest)
        return overflow ? Int.max : product
    }
}

/// The dependencies of a graph's operations, as compressed rows in both directions.
///
/// In graphs of a kind, predecessors have lower numbers than their successors, so the order of numbers is a correct
/// order to run them in. In recorded ones a predecessor may have arrived later.
public struct DependencyGraph: Sendable, Equatable {
    /// One direction of the graph: the neighbours of operation `i` are `targets[starts[i]..<starts[i + 1]]`.
    public struct Rows: Sendable, Equatable {
        public fileprivate(set) var starts: [Int32]
        public fileprivate(set) var targets: [Int32]

        @inlinable
        @inline(__always)
        public subscript(operation: Int) -> ArraySlice<Int32> {
            targets[Int(starts[operation])..<Int(starts[operation + 1])]
        }

        @inlinable
        @inline(__always)
        public func count(of operation: Int) -> Int { Int(starts[operation + 1] - starts[operation]) }
    }

    /// One operation's wait for another.
    public struct Edge: Sendable, Equatable {
        public var operation: Int
        public var predecessor: Int
    }

    /// Nil for a recorded graph.
    public let size: GraphSize?
    private let seed: Int
    public let predecessors: Rows
    public let successors: Rows
    /// The length of the longest path that ends in each operation, itself included: 1 without predecessors.
    public let levels: [UInt32]

    public var operationCount: Int { levels.count }
    public var dependencyCount: Int { predecessors.targets.count }
    /// The number of operations on the longest path.
    public var span: Int { Int(levels.max() ?? 0) }
    /// The operations without predecessors, in ascending order.
    public let sources: [Int]
    /// The operations without successors, in ascending order. The round is done when these are.
    public let sinks: [Int]

    /// The graph of this size. The same size and seed give the same graph.
    public init(_ size: GraphSize, seed: Int) {
        var starts: [Int32] = [0]
        var targets: [Int32] = []
        var levels: [UInt32] = []
        starts.reserveCapacity(size.operationCount + 1)
        targets.reserveCapacity(size.dependencyCount)
        levels.reserveCapacity(size.operationCount)
        var draw = DistinctDraw(size, seed: seed)
        for operation in 0..<size.operationCount {
            var level: UInt32 = 1
            size.forEachPredecessor(of: operation, &draw) { predecessor in
                targets.append(Int32(predecessor))
                level = max(level, levels[predecessor] + 1)
            }
            starts.append(Int32(targets.count))
            levels.append(level)
        }
        self.size = size
        self.seed = seed
        predecessors = Rows(starts: starts, targets: targets)
        successors = predecessors.transposed()
        self.levels = levels
        sources = levels.indices.filter { [predecessors] in predecessors.count(of: $0) == 0 }
        sinks = levels.indices.filter { [successors] in successors.count(of: $0) == 0 }
    }

    /// The graph of those edges; nil if operations wait for one another in a circle, or twice for the same.
    ///
    /// - Parameter edges: between two different operations each.
    public init?(operationCount: Int, edges: [Edge]) {
        var starts = [Int32](repeating: 0, count: operationCount + 1)
        for edge in edges { starts[edge.operation + 1] += 1 }
        for operation in 0..<operationCount { starts[operation + 1] += starts[operation] }
        var next = starts
        var targets = [Int32](repeating: 0, count: edges.count)
        for edge in edges {
            targets[Int(next[edge.operation])] = Int32(edge.predecessor)
            next[edge.operation] += 1
        }
        predecessors = Rows(starts: starts, targets: targets)
        successors = predecessors.transposed()
        guard
            !successors.hasRepetitions,
            let levels = Self.levels(of: predecessors, successors)
        else { return nil }
        self.levels = levels
        (size, seed) = (nil, 0)
        sources = levels.indices.filter { [predecessors] in predecessors.count(of: $0) == 0 }
        sinks = levels.indices.filter { [successors] in successors.count(of: $0) == 0 }
    }

    /// Nil for a graph with a circle, whose operations are never reached.
    private static func levels(of predecessors: Rows, _ successors: Rows) -> [UInt32]? {
        var levels = [UInt32](repeating: 1, count: predecessors.starts.count - 1)
        var missing = levels.indices.map { predecessors.count(of: $0) }
        var reached = levels.indices.filter { missing[$0] == 0 }
        var next = 0
        while next < reached.count {
            let operation = reached[next]
            next += 1
            for successor in successors[operation].map(Int.init) {
                levels[successor] = max(levels[successor], levels[operation] + 1)
                missing[successor] -= 1
                if missing[successor] == 0 { reached.append(successor) }
            }
        }
        return reached.count == levels.count ? levels : nil
    }

    /// A graph of the same kind with at most `limit` operations, or the smallest possible one; of a recorded graph its
    /// first operations.
    func shortened(to limit: Int) -> DependencyGraph {
        if let size { return DependencyGraph(size.shortened(to: limit), seed: seed) }
        let edges = (0..<limit).flatMap { operation in
            predecessors[operation].filter { $0 < limit }.map { Edge(operation: operation, predecessor: Int($0)) }
        }
        return DependencyGraph(operationCount: limit, edges: edges)!
    }
}

extension DependencyGraph.Rows {
    /// Whether a row has a target twice. Rows are in ascending order.
    fileprivate var hasRepetitions: Bool {
        (0..<starts.count - 1).contains { row in zip(self[row], self[row].dropFirst()).contains { $0 == $1 } }
    }

    /// The same edges, indexed by their other ends; each row in ascending order.
    fileprivate func transposed() -> DependencyGraph.Rows {
        let count = starts.count - 1
        var result = DependencyGraph.Rows(
            starts: [Int32](repeating: 0, count: count + 1), targets: [Int32](repeating: 0, count: targets.count))
        for target in targets { result.starts[Int(target) + 1] += 1 }
        for operation in 0..<count { result.starts[operation + 1] += result.starts[operation] }
        var next = result.starts
        for operation in 0..<count {
            for target in self[operation] {
                result.targets[Int(next[Int(target)])] = Int32(operation)
                next[Int(target)] += 1
            }
        }
        return result
    }
}

// MARK: - The kinds

extension GraphSize {
    /// Calls `add` with each predecessor of an operation; they have lower numbers and none appears twice.
    fileprivate func forEachPredecessor(of operation: Int, _ draw: inout DistinctDraw, _ add: (Int) -> Void) {
        switch kind {
        case .fanOut:
            if operation > 0 { add(0) }
        case .fanIn:
            if operation == width { (0..<width).forEach(add) }
        case .diamond:
            // A joint every `width + 1` operations waits for the operations since the previous joint.
            let place = operation % (width + 1)
            if place > 0 {
                add(operation - place)
            } else if operation > 0 {
                (operation - width..<operation).forEach(add)
            }
        case .binaryTree:
            if operation > 0 { add((operation - 1) / 2) }
        case .wavefront:
            if operation >= width { add(operation - width) }
            if operation % width > 0 { add(operation - 1) }
        case .layeredRandom:
            guard operation >= width else { return }
            let rowAbove = operation - operation % width - width
            for place in draw.next() { add(rowAbove + place) }
        }
    }
}

/// Draws several distinct numbers at a time.
private struct DistinctDraw {
    private let count: Int
    /// All numbers; each draw shuffles them further.
    private var numbers: [Int]
    private var generator: SplitMix64

    /// Draws places in the row above.
    init(_ size: GraphSize, seed: Int) {
        count = min(size.degree, size.width)
        numbers = size.kind == .layeredRandom ? Array(0..<size.width) : []
        generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
    }

    /// The beginning of a Fisher–Yates shuffle: every selection is equally likely.
    mutating func next() -> ArraySlice<Int> {
        for place in 0..<count {
            numbers.swapAt(place, place + Int(generator.next() % UInt64(numbers.count - place)))
        }
        return numbers[..<count]
    }
}

extension GraphSize {
    /// A graph of the same kind with at most `limit` operations, or the smallest possible one.
    func shortened(to limit: Int) -> GraphSize {
        var size = self
        while size.operationCount > limit {
            let (canNarrow, canFlatten) = (kind.hasWidth && size.width > 1, kind.hasLayers && size.layers > 1)
            if canNarrow, size.width >= size.layers || !canFlatten {
                size.width /= 2
            } else if canFlatten {
                size.layers = kind == .binaryTree ? size.layers - 1 : size.layers / 2
            } else {
                return size
            }
        }
        return size
    }
}

extension GraphKind {
    fileprivate var hasWidth: Bool { self != .binaryTree }
    fileprivate var hasLayers: Bool { self != .fanOut && self != .fanIn }
}

/// The kinds of graph, with their names in workload files.
public enum GraphKind: String, CaseIterable, Sendable {
    case fanOut = "fan_out"
    case fanIn = "fan_in"
    case diamond
    case binaryTree = "binary_tree"
    case wavefront
    case layeredRandom = "layered_random"
}

/// The size of a graph, computed without making it. Counts beyond Int are `Int.max`.
public struct GraphSize: Sendable, Equatable {
    public var kind: GraphKind
    public var width: Int
    public var layers: Int
    public var degree: Int

    /// The greatest number of dependencies in one cell: with its operations, they take a few gigabytes.
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
            // Dependencies down from every row except the last, and across in every row.
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

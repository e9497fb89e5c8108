import OpBenchModel

/// The unit of a profile's weights.
public enum WeightUnit: String, CaseIterable, Sendable {
    case nanoseconds, bytes, allocations

    /// The weight with its unit: `1.25 ms`, `2.00 MiB`, `1,234 allocations`.
    public func text(_ weight: Double) -> String {
        switch self {
        case .nanoseconds: Quantities.time(weight)
        case .bytes: Quantities.bytes(weight)
        case .allocations: Quantities.count(weight) + (weight == 1 ? " allocation" : " allocations")
        }
    }
}

/// A function on a stack.
public struct StackFrame: Hashable, Sendable {
    /// The readable name.
    public var name: String
    /// The linker's symbol, if different: a mangled name separates the function's own module from those of its
    /// parameters.
    public var symbol: String
    /// The file with its code: a path, `[kernel.kallsyms]`; empty if unknown.
    public var object: String

    public init(name: String, symbol: String? = nil, object: String = "") {
        self.name = name
        self.symbol = symbol ?? name
        self.object = object
    }

    /// The name for an address without a name.
    public static let unknownName = "[unknown]"

    public var isUnknown: Bool { name == Self.unknownName }
}

/// Weighted stacks: CPU profiles in nanoseconds, heap profiles in bytes or allocations.
///
/// Frames and stacks are stored once. A stack is a node of a tree, and its parent is the stack of its caller, which has
/// a lower index. A value type; not thread-safe while it grows.
public struct StackProfile: Sendable {
    /// 32 bytes.
    public struct WeighedStack: Equatable, Sendable, BitwiseCopyable {
        public var weight: Int64
        /// The number of samples with that weight together.
        public var count: Int64
        /// Nanoseconds on the profiler's clock; 0 without a clock.
        public var time: Int64
        /// The node of the innermost function.
        public var stack: UInt32
        /// The index in `threads`.
        public var thread: UInt32
    }

    public struct StackNode: Equatable, Sendable, BitwiseCopyable {
        public var parent: UInt32
        public var frame: UInt32
    }

    public let unit: WeightUnit
    public private(set) var frames: [StackFrame] = []
    /// The first node is the root, which has no frame.
    public private(set) var nodes: [StackNode] = [StackNode(parent: 0, frame: .max)]
    public private(set) var threads: [String] = []
    public private(set) var samples: [WeighedStack] = []
    /// The weight of all samples.
    public private(set) var total: Int64 = 0
    /// Whether there is a sample of each event, so that chance has no part in the weights.
    public var isWhole = false

    private var frameIDs: [StackFrame: UInt32] = [:]
    private var nodeIDs: [UInt64: UInt32] = [:]
    private var threadIDs: [String: UInt32] = [:]

    public init(unit: WeightUnit) { self.unit = unit }

    /// The maximum depth; the outermost functions of deeper stacks are dropped.
    public static let mostFrames = 1024

    /// - Parameters:
    ///   - stack: the outermost function first; an empty stack belongs to the root.
    ///   - weight: not negative.
    ///   - count: the number of samples.
    /// - Returns: false, without adding anything, if the weight is negative or the sum would overflow.
    @discardableResult
    public mutating func add(
        _ stack: [StackFrame], weight: Int64, of count: Int64 = 1, thread: String = "", time: Int64 = 0
    ) -> Bool {
        add(node: node(stack), weight: weight, of: count, thread: thread, time: time)
    }

    /// The node of a stack, without a sample.
    ///
    /// - Parameter stack: the outermost function first.
    public mutating func node(_ stack: [StackFrame]) -> UInt32 {
        stack.suffix(Self.mostFrames).reduce(0) { child(of: $0, id(of: $1)) }
    }

    /// Adds a sample of a known stack.
    ///
    /// - Returns: like the other `add`; also false if there is no such node.
    @discardableResult
    public mutating func add(
        node: UInt32, weight: Int64, of count: Int64 = 1, thread: String = "", time: Int64 = 0
    ) -> Bool {
        let (sum, overflow) = total.addingReportingOverflow(weight)
        guard weight >= 0, !overflow, nodes.indices.contains(Int(node)) else { return false }
        total = sum
        samples.append(
            WeighedStack(weight: weight, count: count, time: time, stack: node, thread: id(of: thread)))
        return true
    }

    private mutating func id(of frame: StackFrame) -> UInt32 {
        if let id = frameIDs[frame] { return id }
        let id = UInt32(frames.count)
        frames.append(frame)
        frameIDs[frame] = id
        return id
    }

    private mutating func id(of thread: String) -> UInt32 {
        if let id = threadIDs[thread] { return id }
        let id = UInt32(threads.count)
        threads.append(thread)
        threadIDs[thread] = id
        return id
    }

    private mutating func child(of parent: UInt32, _ frame: UInt32) -> UInt32 {
        let key = UInt64(parent) << 32 | UInt64(frame)
        if let id = nodeIDs[key] { return id }
        let id = UInt32(nodes.count)
        nodes.append(StackNode(parent: parent, frame: frame))
        nodeIDs[key] = id
        return id
    }

    // MARK: Looking

    /// The total and the number of samples: `2.00 MiB in 345 samples`.
    var words: String {
        let count = samples.reduce(0) { $0 + $1.count }
        return "\(unit.text(Double(total))) in \(counted(count, "sample"))"
    }

    /// A copy with only the matching samples: for example between two marks, or of some threads.
    public func filtered(_ isIncluded: (WeighedStack) -> Bool) -> StackProfile {
        var filtered = self
        filtered.samples = samples.filter(isIncluded)
        filtered.total = filtered.samples.reduce(0) { $0 + $1.weight }
        return filtered
    }

    /// The frames of a stack, the outermost first.
    public func stack(_ node: UInt32) -> [UInt32] {
        var (frames, node): ([UInt32], UInt32) = ([], node)
        while node != 0 {
            frames.append(nodes[Int(node)].frame)
            node = nodes[Int(node)].parent
        }
        return frames.reversed()
    }

    /// For each node, the weight of its own samples.
    public func selfWeights() -> [Int64] {
        var weights = [Int64](repeating: 0, count: nodes.count)
        for sample in samples { weights[Int(sample.stack)] += sample.weight }
        return weights
    }

    /// For each node, the weight of its own samples and its callees'.
    public func totalWeights() -> [Int64] {
        var weights = selfWeights()
        for node in nodes.indices.dropFirst().reversed() { weights[Int(nodes[node].parent)] += weights[node] }
        return weights
    }
}

// MARK: - Functions

extension StackProfile {
    /// A function's weight, over all its callers.
    public struct FunctionWeight: Equatable, Sendable {
        public var frame: StackFrame
        /// The weight of its own code.
        public var own: Int64
        /// The weight including callees; each sample counts once, even if the function is on its stack several times.
        public var withCallees: Int64
    }

    /// All functions with weight, by own weight in descending order, then by weight including callees, then by name.
    public func functions() -> [FunctionWeight] {
        let (own, total) = (selfWeights(), totalWeights())
        var functions = frames.map { FunctionWeight(frame: $0, own: 0, withCallees: 0) }
        for node in nodes.indices.dropFirst() where total[node] > 0 {
            let frame = Int(nodes[node].frame)
            functions[frame].own += own[node]
            if !isRecursive(node) { functions[frame].withCallees += total[node] }
        }
        return functions.filter { $0.withCallees > 0 }.sorted {
            ($1.own, $1.withCallees, $0.frame.name) < ($0.own, $0.withCallees, $1.frame.name)
        }
    }

    /// Whether the node's function is among its callers.
    private func isRecursive(_ node: Int) -> Bool {
        var caller = Int(nodes[node].parent)
        while caller != 0 {
            if nodes[caller].frame == nodes[node].frame { return true }
            caller = Int(nodes[caller].parent)
        }
        return false
    }
}

extension StackProfile {
    /// Folded stacks in the format of flamegraph.pl: one line per stack with its functions from the outermost, joined by
    /// semicolons, then a space and the weight. The lines are sorted. If threads have names, they come first.
    public func folded() -> String {
        var weights: [String: Int64] = [:]
        let names = frames.map { Self.foldedName($0.name) }
        for sample in samples where sample.weight > 0 {
            let thread = threads[Int(sample.thread)]
            let words = (thread.isEmpty ? [] : [Self.foldedName(thread)]) + stack(sample.stack).map { names[Int($0)] }
            weights[words.isEmpty ? "[no stack]" : words.joined(separator: ";"), default: 0] += sample.weight
        }
        return weights.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    }

    /// A name on one line, without the separator.
    private static func foldedName(_ name: String) -> String {
        String(TerminalText.escaped(name).map { $0 == ";" ? ":" : $0 })
    }
}

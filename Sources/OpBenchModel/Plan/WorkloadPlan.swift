/// What one round of a cell does, worked out before any backend is chosen: all backends get the identical plan.
///
/// Operations are numbered 0..<`operationCount`. In chains the number is `position * chains + chain`, so that an
/// operation's only predecessor is the one `chains` before it; in graphs, predecessors have lower numbers.
///
/// What backends ask for each operation is inlinable and public: what has `package` access is a call in another module.
public struct WorkloadPlan: Sendable {
    /// How an operation comes to be, where the API has several ways.
    public enum Form: String, Sendable {
        /// `addOperation { }`
        case closure
        /// a `BlockOperation`
        case block
        /// a subclass of `Operation` with `main` overridden
        case subclass
    }

    /// How operations get into the queue.
    public enum Submission: Sendable, Equatable {
        case each
        case bulk
        /// Batches of `window`; the completion of a batch's last operation submits the next batch.
        case refill(window: Int)
    }

    public struct Chains: Sendable, Equatable {
        public var depth: Int
        public var count: Int
        /// The link at `position` of chain `c` belongs to queue `(position + c) % queues`.
        public var queues: Int

        public init(depth: Int, count: Int, queues: Int) {
            (self.depth, self.count, self.queues) = (depth, count, queues)
        }
    }

    public var shape: Shape
    /// What a backend must be able to do.
    package var needs: Capability
    /// The promises that the shape is about. Times can be compared among backends that give them.
    package var concerns: Guarantees = []
    public var operationCount: Int
    public var itemCount: Int
    public var itemsPerOperation = 1
    /// CPU work per item; 0 calls no kernel.
    public var workNanoseconds: Int
    /// The queue's limit; nil leaves the default.
    public var limit: Int?
    public var form: Form = .subclass
    public var submission: Submission = .each
    /// Threads that submit.
    public var producers = 1
    /// Who waits for whom: in chains, in a graph, or nobody for anybody.
    public var chains: Chains?
    public var graph: DependencyGraph?
    /// Whether the last operation is submitted first.
    public var isReversed = false
    public var classes: OperationClasses?
    /// Whether the queue is suspended until everything is submitted.
    public var startsSuspended = false
    /// nil: as fast as they can be submitted.
    package var pacing: Pacing?
    package var stall: Stall?
    /// What the shape alone needs; nil where it needs nothing.
    package var detail: (any ShapeDetail)?

    init(
        shape: Shape, needs: Capability, operationCount: Int, itemCount: Int, workNanoseconds: Int, limit: Int?
    ) {
        self.shape = shape
        self.needs = needs
        self.operationCount = operationCount
        self.itemCount = itemCount
        self.workNanoseconds = workNanoseconds
        self.limit = limit
    }
}

extension WorkloadPlan {
    /// The operation submitted `index`-th.
    @inlinable
    @inline(__always)
    public func operation(at index: Int) -> Int { isReversed ? operationCount - 1 - index : index }

    @inlinable
    public func queueIndex(of operation: Int) -> Int {
        guard let chains, chains.queues > 1 else { return 0 }
        return (operation / chains.count + operation % chains.count) % chains.queues
    }

    /// The raw queue priority or the thread priority of an operation; 0 in shapes without classes.
    @inlinable
    public func classValue(of operation: Int) -> Double {
        classes.map { $0.values[Int($0.ofOperation[operation])] } ?? 0
    }

    /// The items of the last operation, which may be fewer.
    public var lastItems: Int { itemCount - (operationCount - 1) * itemsPerOperation }

    /// The submission sequence in as many contiguous parts as there are producers.
    public var parts: [Range<Int>] {
        let count = max(1, min(producers, operationCount))
        return (0..<count).map { operationCount * $0 / count..<operationCount * ($0 + 1) / count }
    }

    /// What the shape alone needs, if it is of that type. For once a round, not for each operation.
    package func detail<Detail: ShapeDetail>(_ type: Detail.Type) -> Detail? {
        guard let detail, Swift.type(of: detail) == type else { return nil }
        return detail as? Detail
    }
}

// MARK: - The warm-up

extension WorkloadPlan {
    /// A plan of the same kind with at most about `limit` operations and without a stall, for the warm-up.
    public func shortened(to limit: Int) -> WorkloadPlan {
        var plan = self
        plan.stall = nil
        plan.shorten(to: min(limit, detail?.warmUpLimit ?? .max))
        plan.detail = detail?.shortened(to: plan.operationCount)
        return plan
    }

    private mutating func shorten(to limit: Int) {
        guard operationCount > limit else { return }
        if var chains {
            chains.count = min(chains.count, limit)
            chains.depth = max(1, limit / chains.count)
            self.chains = chains
            operationCount = chains.count * chains.depth
        } else if let graph {
            let shortened = graph.shortened(to: limit)
            self.graph = shortened
            operationCount = shortened.operationCount
        } else {
            let groupSize = detail?.groupSize ?? 1
            operationCount = max(1, limit / groupSize) * groupSize
        }
        itemCount = operationCount * itemsPerOperation
        classes?.ofOperation.removeSubrange(operationCount...)
        pacing = pacing?.prefix(operationCount)
    }
}

// MARK: - The outcome

extension WorkloadPlan {
    /// What is wrong with what a round left, in words; empty if nothing is. Called after the clock has stopped.
    public func violations(of traces: RoundTraces) -> [String] {
        detail?.violations(of: traces, in: self) ?? MarkCheck.violations(of: traces, in: self)
    }

    /// What the operation's slot holds after one correct round by its dependencies: the length of the longest path that
    /// ends in it.
    public func expectedMark(of operation: Int) -> UInt32 {
        if let graph { return graph.levels[operation] }
        guard let chains else { return 1 }
        return UInt32(truncatingIfNeeded: operation / chains.count + 1)
    }
}

extension WorkloadPlan {
    /// The plan of a cell. The same cell gives the same plan, for every backend and in every process.
    package init(_ cell: Cell) { self = ShapeDefinition.of(cell.shape).plan(of: cell) }

    /// The plan without what is worked out for every operation: enough to ask whether a backend can express it.
    package static func forSupport(_ cell: Cell) -> WorkloadPlan {
        WorkloadPlan(ShapeDefinition.of(cell.shape).sketch(cell))
    }
}

extension WorkloadPlan {
    /// How far back an operation's predecessor is in chains; 0 in other shapes.
    @inlinable public var predecessorDistance: Int { chains?.count ?? 0 }

    public var hasDependencies: Bool { chains != nil || graph != nil }

    /// Calls `body` with every dependency: first the operation that waits, then the one it waits for.
    @inlinable
    public func forEachDependency(_ body: (Int, Int) -> Void) {
        if let graph {
            for operation in 0..<operationCount {
                for predecessor in graph.predecessors[operation] { body(operation, Int(predecessor)) }
            }
        } else if predecessorDistance > 0, predecessorDistance < operationCount {
            for operation in predecessorDistance..<operationCount { body(operation, operation - predecessorDistance) }
        }
    }

    /// How long an operation's body takes by the plan, its work and its sleep, in nanoseconds; nil if it waits for the end
    /// of another.
    package func plannedNanoseconds(of operation: Int) -> Int? {
        let items = operation == operationCount - 1 ? lastItems : itemsPerOperation
        let work = items * workNanoseconds + (operation == stalledOperation ? stall?.nanoseconds ?? 0 : 0)
        guard let blocking else { return work }
        return blocking.partner(of: operation, among: operationCount) == nil ? work + blocking.nanoseconds : nil
    }

    // MARK: What no scheduling can beat

    /// All work of one round, in nanoseconds.
    public var workTotal: Double { Double(itemCount) * Double(workNanoseconds) }

    /// The work on the longest path of dependencies, in nanoseconds: no number of processors is faster. Nil in shapes
    /// without dependencies.
    public var workSpan: Double? {
        (chains?.depth ?? graph?.span).map { Double($0) * Double(itemsPerOperation) * Double(workNanoseconds) }
    }

    /// The shortest possible makespan on that many processors, by work and span; nil in shapes without dependencies, and
    /// without work.
    public func idealMakespan(processors: Int) -> Double? {
        guard let workSpan, workNanoseconds > 0 else { return nil }
        let slots = limit.map { $0 * (chains?.queues ?? 1) } ?? processors
        return max(workTotal / Double(min(processors, slots)), workSpan)
    }
}

extension WorkloadPlan {
    /// The operations of a refilled batch; nil for other ways of submission.
    public var refillWindow: Int? {
        if case .refill(let window) = submission { window } else { nil }
    }

    public var isRefill: Bool { refillWindow != nil }

    /// Whether an operation has a completion block that could be timed: `addOperation { }` makes nothing that has one.
    ///
    /// Backends ask for each operation: patterns, since `==` would be a call in another module's code.
    @inlinable public var hasCompletionBlocks: Bool {
        guard case .closure = form else { return true }
        if case .bulk = submission { return true }
        return false
    }

    /// Whether closures are handed to the queue one by one, with no object made before.
    public var makesClosuresOnly: Bool { form == .closure && submission == .each }

    // MARK: Pace

    /// The operation that stands still in its body; -1 for none.
    public var stalledOperation: Int { stall.map { $0.stallsSubmitter ? -1 : $0.operation } ?? -1 }

    /// Whether the submitting call waits for operations, so that submitting cannot be told from draining.
    public var submitsWhileDraining: Bool {
        isRefill || pacing != nil || phases.contains { $0.plan.submitsWhileDraining }
    }

    /// Whether the pace alone decides how long a round takes, unless the queue falls behind.
    public var isOpenLoop: Bool {
        if case .arrivals = pacing { true } else { false }
    }
}

/// Classes that figures are told apart by: priority levels, thread priority values, or roles.
public struct OperationClasses: Sendable, Equatable {
    /// `priority`, `thread_priority` or `role`.
    public var label: String
    /// In ascending order of urgency.
    public var keys: [String]
    /// The raw queue priority, or the thread priority, of each class.
    public var values: [Double]
    /// The class of each operation.
    public var ofOperation: [UInt8]

    /// As written in the column `class`.
    public func name(_ index: Int) -> String { "\(label)=\(keys[index])" }
}

extension OperationClasses {
    /// Draws a class for every operation by weight. A weight of 0 leaves a class out.
    init(label: String, levels: [(key: String, value: Double, weight: Double)], operations: Int, seed: Int) {
        let used = levels.filter { $0.weight > 0 }
        let total = used.reduce(0) { $0 + $1.weight }
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        var drawn: [UInt8] = []
        drawn.reserveCapacity(operations)
        for _ in 0..<operations {
            var rest = generator.unit() * total
            var index = 0
            while index < used.count - 1, rest >= used[index].weight {
                rest -= used[index].weight
                index += 1
            }
            drawn.append(UInt8(index))
        }
        self.init(label: label, keys: used.map(\.key), values: used.map(\.value), ofOperation: drawn)
    }
}

/// When operations are submitted, where not as fast as they can be.
package enum Pacing: Sendable, Equatable {
    /// So many at once, by one thread, each burst when the one before has ended and a pause has passed, in which the
    /// thread sleeps or stays awake.
    case bursts(size: Int, pauseNanoseconds: Int, staysAwake: Bool = false)
    /// Each at an instant of its own, by one thread, whatever became of those before: in nanoseconds from the first
    /// one's, ascending.
    case arrivals([Int64])
}

/// Something that stands still once, in the middle of a round.
package struct Stall: Sendable, Equatable {
    package var nanoseconds: Int
    /// The operation that sleeps so long in its body, or before whose submission the submitting thread does.
    package var operation: Int
    package var stallsSubmitter = false
}

extension Pacing {
    /// The same sequence as fast as it goes, for the warm-up; nil where nothing else is left of the pace.
    package var hurried: Pacing? {
        switch self {
        case .bursts(let size, _, _): .bursts(size: size, pauseNanoseconds: 0)
        case .arrivals: nil
        }
    }

    /// That of the first operations alone.
    package func prefix(_ count: Int) -> Pacing {
        switch self {
        case .bursts: self
        case .arrivals(let instants): .arrivals(Array(instants.prefix(count)))
        }
    }
}

extension Stall {
    /// nil if nothing stands still.
    init?(_ cell: Cell, of operations: Int) {
        let nanoseconds = cell.integer("stall_ns")
        guard nanoseconds > 0 else { return nil }
        self.init(nanoseconds: nanoseconds, operation: operations / 2)
    }
}

extension WorkloadPlan {
    /// Whether operations follow one another.
    package var isOrdered: Bool { chains != nil || graph != nil || isRefill }
}

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

/// The work of one round of a cell, computed before any backend is chosen: all backends get the identical plan.
///
/// Operations are numbered 0..<`operationCount`. In chains the number is `position * chains + chain`, so an operation's
/// only predecessor is `chains` before it; in graphs, predecessors have lower numbers.
///
/// Members that backends read for each operation are inlinable and public: a `package` member is a call into another
/// module.
public struct WorkloadPlan: Sendable {
    /// The way an operation is made, if the API has several.
    public enum Form: String, Sendable {
        /// `addOperation { }`
        case closure
        /// a `BlockOperation`
        case block
        /// a subclass of `Operation` with `main` overridden
        case subclass
    }

    /// The way operations are submitted to the queue.
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

    /// Several queues with a limit each.
    public struct Queues: Sendable, Equatable {
        /// Nil for the default.
        public var limits: [Int?]
        public var ofOperation: [UInt8]
    }

    public var shape: Shape
    /// The shape in whose way backends execute it.
    package var way: Shape
    /// The promises that the shape is about. Only backends that give them have comparable times.
    package var concerns: BackendGuarantees = []
    public var operationCount: Int
    public var itemCount: Int
    public var itemsPerOperation = 1
    /// CPU work per item; 0 runs no kernel.
    public var workNanoseconds: Int
    /// The work of an item instead of that; nil for that.
    package var body: PlannedBody?
    /// The queue's limit; nil for the default, and where `queues` have their own.
    public var limit: Int?
    /// Nil for one queue, and for those of the chains.
    public var queues: Queues?
    public var form: Form = .subclass
    public var submission: Submission = .each
    /// The number of submitting threads.
    public var producers = 1
    /// The dependencies: in chains, in a graph, or none.
    public var chains: Chains?
    public var graph: DependencyGraph?
    /// Whether the last operation is submitted first.
    public var isReversed = false
    public var classes: OperationClasses?
    /// Groups whose latencies are apart, instead of those of classes.
    public var groups: OperationClasses?
    /// Whether the queue is suspended until everything is submitted.
    public var startsSuspended = false
    /// Nil submits as fast as possible.
    package var pacing: Pacing?
    package var stall: Stall?
    /// The shape's own detail; nil if it needs none.
    package var detail: (any ShapeDetail)?
}

extension WorkloadPlan {
    /// The operation that is submitted at `index`.
    @inlinable
    @inline(__always)
    public func operation(at index: Int) -> Int { isReversed ? operationCount - 1 - index : index }

    @inlinable
    public func queueIndex(of operation: Int) -> Int {
        if let queues { return Int(queues.ofOperation[operation]) }
        guard let chains, chains.queues > 1 else { return 0 }
        return (operation / chains.count + operation % chains.count) % chains.queues
    }

    /// Whether there are several queues.
    @inlinable public var isAcrossQueues: Bool { queues != nil || chains?.queues ?? 1 > 1 }

    /// The limit of each queue; nil for the default.
    public var queueLimits: [Int?] {
        queues?.limits ?? [Int?](repeating: limit, count: chains?.queues ?? 1)
    }

    /// The most operations that the limits let run at once; nil if a queue has the default.
    package var slots: Int? {
        queueLimits.reduce(0) { sum, limit in sum.flatMap { sum in limit.map { sum + $0 } } }
    }

    /// The raw queue priority or the thread priority of an operation; 0 in shapes without classes.
    @inlinable
    public func classValue(of operation: Int) -> Double {
        classes.map { $0.values[Int($0.ofOperation[operation])] } ?? 0
    }

    /// The number of items of the last operation, which may be smaller.
    public var lastItems: Int { itemCount - (operationCount - 1) * itemsPerOperation }

    /// The submission sequence, split into one contiguous part per producer.
    public var parts: [Range<Int>] {
        let count = max(1, min(producers, operationCount))
        return (0..<count).map { operationCount * $0 / count..<operationCount * ($0 + 1) / count }
    }

    /// The shape's detail, if it has that type. To be called once per round, not per operation.
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
        groups?.ofOperation.removeSubrange(operationCount...)
        queues?.ofOperation.removeSubrange(operationCount...)
        pacing = pacing?.prefix(operationCount)
    }
}

// MARK: - The outcome

extension WorkloadPlan {
    /// The violations that a round's traces show, in words. Called after the clock has stopped.
    public func violations(of traces: RoundTraces) -> [String] {
        detail?.violations(of: traces, in: self) ?? MarkCheck.violations(of: traces, in: self)
    }

    /// The value of the operation's slot after one correct round: the length of the longest path that ends in it.
    public func expectedMark(of operation: Int) -> UInt32 {
        if let graph { return graph.levels[operation] }
        guard let chains else { return 1 }
        return UInt32(truncatingIfNeeded: operation / chains.count + 1)
    }
}

extension WorkloadPlan {
    /// The distance to an operation's predecessor in chains; 0 in other shapes.
    @inlinable public var predecessorDistance: Int { chains?.count ?? 0 }

    public var hasDependencies: Bool { chains != nil || graph != nil }

    /// Whether operations follow one another.
    package var isOrdered: Bool { hasDependencies || isRefill }

    /// Calls `body` for every dependency: first the waiting operation, then its predecessor.
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

    /// The planned duration of an operation's body, work and sleep, in nanoseconds; nil if it waits for the end of
    /// another operation, or if its body is not CPU work alone.
    package func plannedNanoseconds(of operation: Int) -> Int? {
        if let replay { return replay.work[operation] + replay.waits[operation] }
        guard body == nil else { return nil }
        let items = operation == operationCount - 1 ? lastItems : itemsPerOperation
        let work = items * workNanoseconds + (operation == stalledOperation ? stall?.nanoseconds ?? 0 : 0)
        guard let blocking else { return work }
        return blocking.partner(of: operation, among: operationCount) == nil ? work + blocking.nanoseconds : nil
    }

    // MARK: Lower bounds of any schedule

    /// The total work of one round, in nanoseconds.
    public var workTotal: Double { Double(itemCount) * Double(workNanoseconds) }

    /// The work on the longest path of dependencies, in nanoseconds: a lower bound for any number of processors. Nil if
    /// something else bounds the order, such as a priority or a suspension.
    public var workSpan: Double? {
        (chains?.depth ?? graph?.span ?? (shape == .independent ? 1 : nil)).map {
            Double($0) * Double(itemsPerOperation) * Double(workNanoseconds)
        }
    }

    /// The shortest possible makespan on that many processors, from work and span; nil without a span or without work.
    public func idealMakespan(processors: Int) -> Double? {
        guard let workSpan, workNanoseconds > 0 else { return nil }
        let slots = limit.map { $0 * (chains?.queues ?? 1) } ?? processors
        return max(workTotal / Double(min(processors, slots)), workSpan)
    }
}

extension WorkloadPlan {
    /// The number of operations in a refilled batch; nil for other ways of submission.
    public var refillWindow: Int? {
        if case .refill(let window) = submission { window } else { nil }
    }

    public var isRefill: Bool { refillWindow != nil }

    /// Whether operations have completion blocks that can be timed: `addOperation { }` makes none.
    ///
    /// Backends read this for each operation. It matches patterns, because `==` would be a call into another module.
    @inlinable public var hasCompletionBlocks: Bool {
        guard case .closure = form else { return true }
        if case .bulk = submission { return true }
        return false
    }

    /// Whether closures are submitted to the queue one by one, with no object made before.
    public var makesClosuresOnly: Bool { form == .closure && submission == .each }

    // MARK: Pace

    /// The operation that stalls in its body; -1 for none.
    public var stalledOperation: Int { stall.map { $0.stallsSubmitter ? -1 : $0.operation } ?? -1 }

    /// Whether the submitting call waits for operations, so that submit and drain cannot be separated.
    public var submitsWhileDraining: Bool { isRefill || pacing != nil }

    /// Whether it is about waiting: the pace, a suspension, a stall or the bodies decide how long some operations wait,
    /// and not only the processors. Samples of such a plan have the flag `waits`.
    package var waits: Bool {
        pacing != nil || stall != nil || blocking != nil || storm != nil || body?.choice.waits ?? false
    }

    /// Whether the pace alone decides the duration of a round, unless the queue falls behind.
    public var isOpenLoop: Bool {
        if case .arrivals = pacing { true } else { false }
    }
}

/// The classes by which figures are split: priority levels, thread priority values, or roles.
public struct OperationClasses: Sendable, Equatable {
    /// `priority`, `thread_priority`, `role` or `group`.
    public var label: String
    /// In ascending order of urgency.
    public var keys: [String]
    /// The raw queue priority, or the thread priority, of each class.
    public var values: [Double]
    /// The class of each operation.
    public var ofOperation: [UInt8]

    /// The class as written in the column `class`.
    public func name(_ index: Int) -> String { "\(label)=\(keys[index])" }
}

extension OperationClasses {
    /// Draws a class for every operation by weight. A class of weight 0 is never drawn.
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

/// The times of submission, if not as fast as possible.
package enum Pacing: Sendable, Equatable {
    /// Bursts of `size` operations by one thread. A burst follows when the previous one has ended and a pause has
    /// passed, in which the thread sleeps or stays awake.
    case bursts(size: Int, pauseNanoseconds: Int, staysAwake: Bool = false)
    /// The instants at which one thread submits the operations, whether earlier ones have ended or not: in nanoseconds
    /// from the first arrival, ascending.
    case arrivals([Int64])

    /// The same sequence as fast as possible, for the warm-up; nil if no pace is left.
    package var hurried: Pacing? {
        switch self {
        case .bursts(let size, _, _): .bursts(size: size, pauseNanoseconds: 0)
        case .arrivals: nil
        }
    }

    /// The pace of the first `count` operations.
    package func prefix(_ count: Int) -> Pacing {
        switch self {
        case .bursts: self
        case .arrivals(let instants): .arrivals(Array(instants.prefix(count)))
        }
    }
}

/// A stall in the middle of a round.
package struct Stall: Sendable, Equatable {
    package var nanoseconds: Int
    /// The operation that sleeps in its body for that time, or before which the submitting thread sleeps.
    package var operation: Int
    package var stallsSubmitter = false
}

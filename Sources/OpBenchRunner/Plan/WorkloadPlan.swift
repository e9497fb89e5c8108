import OpBenchModel

/// What one round of a cell does, worked out before any backend is chosen: all backends get the identical plan.
///
/// Operations are numbered 0..<`operationCount`. In chains the number is `position * chains + chain`, so that an
/// operation's only predecessor is the one `chains` before it; in graphs, predecessors have lower numbers.
struct WorkloadPlan: Sendable {
    /// How an operation comes to be, where the API has several ways.
    enum Form: String, Sendable {
        /// `addOperation { }`
        case closure
        /// a `BlockOperation`
        case block
        /// a subclass of `Operation` with `main` overridden
        case subclass
    }

    /// How operations get into the queue.
    enum Submission: Sendable, Equatable {
        case each
        case bulk
        /// Batches of `window`; the completion of a batch's last operation submits the next batch.
        case refill(window: Int)
    }

    struct Chains: Sendable, Equatable {
        var depth: Int
        var count: Int
        /// The link at `position` of chain `c` belongs to queue `(position + c) % queues`.
        var queues: Int
    }

    /// Classes that figures are told apart by: priority levels, or thread priority values.
    struct Classes: Sendable, Equatable {
        /// `priority` or `thread_priority`.
        var label: String
        /// In ascending order of urgency.
        var keys: [String]
        /// The raw queue priority, or the thread priority, of each class.
        var values: [Double]
        /// The class of each operation.
        var ofOperation: [UInt8]

        /// As written in the column `class`.
        func name(_ index: Int) -> String { "\(label)=\(keys[index])" }
    }

    /// A thread of its own suspends and resumes the queue.
    struct Storm: Sendable, Equatable {
        var toggles: Int
        var runNanoseconds: Int
        var holdNanoseconds: Int
    }

    var shape: Shape
    var operationCount: Int
    var itemCount: Int
    var itemsPerOperation: Int
    /// CPU work per item; 0 calls no kernel.
    var workNanoseconds: Int
    /// The queue's limit; nil leaves the default.
    var limit: Int?
    var form: Form = .subclass
    var submission: Submission = .each
    /// Threads that submit.
    var producers = 1
    var chains: Chains?
    var graph: DependencyGraph?
    /// Whether the last operation is submitted first.
    var isReversed = false
    var classes: Classes?
    /// Whether the queue is suspended until everything is submitted.
    var startsSuspended = false
    var storm: Storm?
    /// nil: as fast as they can be submitted.
    var pacing: Pacing?
    /// What the pace was drawn from, if it is an open loop.
    var arrivals: Arrivals?
    var stall: Stall?
    /// What a sequence does, one after the other; empty in other shapes.
    var phases: [PhasePlan] = []
    /// Whether a phase goes on with the queue of the one before.
    var sharesQueue = false
    /// Busy threads at nice 0 beside the backend.
    var competitors = 0
    var cancellation: Cancellation?
    var blocking: Blocking?
    /// The size of the object that each operation keeps; 0 for none.
    var payloadBytes = 0
    /// Observers of each operation.
    var observers: Int?
    /// The last of this many successive operations is a barrier.
    var barrierEvery: Int?
    /// How many operations of the plan, blocks, make up one that is submitted.
    var groupSize = 1
    var announcedEnd: AnnouncedEnd?
    /// Whether operations are started by a call of `start` and there is no queue.
    var startsByHand = false
}

/// A phase of a sequence.
struct PhasePlan: Sendable {
    var name: String
    var plan: WorkloadPlan
}

extension WorkloadPlan {
    /// The operation submitted `index`-th.
    @inline(__always)
    func operation(at index: Int) -> Int { isReversed ? operationCount - 1 - index : index }

    func queueIndex(of operation: Int) -> Int {
        guard let chains, chains.queues > 1 else { return 0 }
        return (operation / chains.count + operation % chains.count) % chains.queues
    }

    /// The raw queue priority or the thread priority of an operation; 0 in shapes without classes.
    func classValue(of operation: Int) -> Double {
        classes.map { $0.values[Int($0.ofOperation[operation])] } ?? 0
    }

    /// The items of the last operation, which may be fewer.
    var lastItems: Int { itemCount - (operationCount - 1) * itemsPerOperation }

    /// The submission sequence in as many contiguous parts as there are producers.
    var parts: [Range<Int>] {
        let count = max(1, min(producers, operationCount))
        return (0..<count).map { operationCount * $0 / count..<operationCount * ($0 + 1) / count }
    }

    /// A plan of the same kind with at most about `limit` operations and without a stall, for the warm-up.
    func shortened(to limit: Int) -> WorkloadPlan {
        var plan = self
        if let blocking {
            plan.blocking?.nanoseconds = min(blocking.nanoseconds, Self.shortenedBlock)
        }
        let limit = blocking == nil ? limit : min(limit, Self.shortenedBlocked)
        plan.stall = nil
        guard operationCount > limit else { return plan }
        if var chains {
            chains.count = min(chains.count, limit)
            chains.depth = max(1, limit / chains.count)
            plan.chains = chains
            plan.operationCount = chains.count * chains.depth
        } else if let graph {
            let shortened = graph.shortened(to: limit)
            plan.graph = shortened
            plan.operationCount = shortened.operationCount
        } else {
            plan.operationCount = max(1, limit / groupSize) * groupSize
        }
        plan.itemCount = plan.operationCount * itemsPerOperation
        plan.classes?.ofOperation.removeSubrange(plan.operationCount...)
        plan.cancellation?.isChosen.removeSubrange(plan.operationCount...)
        plan.pacing = plan.pacing?.prefix(plan.operationCount)
        return plan
    }

    /// How much of blocked operations a warm-up takes: they cost time, whatever the queue does.
    private static let (shortenedBlock, shortenedBlocked) = (100_000, 16)

    /// What the operation's slot holds after one correct round: see `OperationBody`.
    func expectedMark(of operation: Int) -> UInt32 {
        if let graph { return graph.levels[operation] }
        if partner(of: operation) != nil { return 2 }
        guard let chains else { return 1 }
        return UInt32(truncatingIfNeeded: operation / chains.count + 1)
    }
}

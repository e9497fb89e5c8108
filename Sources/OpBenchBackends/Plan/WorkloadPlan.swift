import OpBenchModel

/// What one round of a cell does, worked out before any backend is chosen: all backends get the identical plan.
///
/// Operations are numbered 0..<`operationCount`. In chains the number is `position * chains + chain`, so that an
/// operation's only predecessor is the one `chains` before it; in graphs, predecessors have lower numbers.
package struct WorkloadPlan: Sendable {
    /// How an operation comes to be, where the API has several ways.
    package enum Form: String, Sendable {
        /// `addOperation { }`
        case closure
        /// a `BlockOperation`
        case block
        /// a subclass of `Operation` with `main` overridden
        case subclass
    }

    /// How operations get into the queue.
    package enum Submission: Sendable, Equatable {
        case each
        case bulk
        /// Batches of `window`; the completion of a batch's last operation submits the next batch.
        case refill(window: Int)
    }

    package struct Chains: Sendable, Equatable {
        package var depth: Int
        package var count: Int
        /// The link at `position` of chain `c` belongs to queue `(position + c) % queues`.
        package var queues: Int
    }

    /// Classes that figures are told apart by: priority levels, or thread priority values.
    package struct Classes: Sendable, Equatable {
        /// `priority` or `thread_priority`.
        package var label: String
        /// In ascending order of urgency.
        package var keys: [String]
        /// The raw queue priority, or the thread priority, of each class.
        package var values: [Double]
        /// The class of each operation.
        package var ofOperation: [UInt8]

        /// As written in the column `class`.
        package func name(_ index: Int) -> String { "\(label)=\(keys[index])" }
    }

    /// A thread of its own suspends and resumes the queue.
    package struct Storm: Sendable, Equatable {
        package var toggles: Int
        package var runNanoseconds: Int
        package var holdNanoseconds: Int
    }

    package var shape: Shape
    package var operationCount: Int
    package var itemCount: Int
    package var itemsPerOperation: Int
    /// CPU work per item; 0 calls no kernel.
    package var workNanoseconds: Int
    /// The queue's limit; nil leaves the default.
    package var limit: Int?
    package var form: Form = .subclass
    package var submission: Submission = .each
    /// Threads that submit.
    package var producers = 1
    package var chains: Chains?
    package var graph: DependencyGraph?
    /// Whether the last operation is submitted first.
    package var isReversed = false
    package var classes: Classes?
    /// Whether the queue is suspended until everything is submitted.
    package var startsSuspended = false
    package var storm: Storm?
    /// nil: as fast as they can be submitted.
    package var pacing: Pacing?
    /// What the pace was drawn from, if it is an open loop.
    package var arrivals: Arrivals?
    package var stall: Stall?
    /// What a sequence does, one after the other; empty in other shapes.
    package var phases: [PhasePlan] = []
    /// Whether a phase goes on with the queue of the one before.
    package var sharesQueue = false
    /// Busy threads at nice 0 beside the backend.
    package var competitors = 0
    package var cancellation: Cancellation?
    package var blocking: Blocking?
    /// The size of the object that each operation keeps; 0 for none.
    package var payloadBytes = 0
    /// Observers of each operation.
    package var observers: Int?
    /// The last of this many successive operations is a barrier.
    package var barrierEvery: Int?
    /// How many operations of the plan, blocks, make up one that is submitted.
    package var groupSize = 1
    package var announcedEnd: AnnouncedEnd?
    /// Whether operations are started by a call of `start` and there is no queue.
    package var startsByHand = false
}

/// A phase of a sequence.
package struct PhasePlan: Sendable {
    package var name: String
    package var plan: WorkloadPlan
}

extension WorkloadPlan {
    /// The operation submitted `index`-th.
    @inlinable
    @inline(__always)
    package func operation(at index: Int) -> Int { isReversed ? operationCount - 1 - index : index }

    @inlinable
    package func queueIndex(of operation: Int) -> Int {
        guard let chains, chains.queues > 1 else { return 0 }
        return (operation / chains.count + operation % chains.count) % chains.queues
    }

    /// The raw queue priority or the thread priority of an operation; 0 in shapes without classes.
    @inlinable
    package func classValue(of operation: Int) -> Double {
        classes.map { $0.values[Int($0.ofOperation[operation])] } ?? 0
    }

    /// The items of the last operation, which may be fewer.
    package var lastItems: Int { itemCount - (operationCount - 1) * itemsPerOperation }

    /// The submission sequence in as many contiguous parts as there are producers.
    package var parts: [Range<Int>] {
        let count = max(1, min(producers, operationCount))
        return (0..<count).map { operationCount * $0 / count..<operationCount * ($0 + 1) / count }
    }

    /// A plan of the same kind with at most about `limit` operations and without a stall, for the warm-up.
    package func shortened(to limit: Int) -> WorkloadPlan {
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
    package func expectedMark(of operation: Int) -> UInt32 {
        if let graph { return graph.levels[operation] }
        if partner(of: operation) != nil { return 2 }
        guard let chains else { return 1 }
        return UInt32(truncatingIfNeeded: operation / chains.count + 1)
    }
}

extension OperationQueue {
    /// The contents of a queue at one instant, and the reasons why operations wait.
    ///
    /// A value: it keeps no operation alive. `description` is the text for people, and any encoder makes a file of it.
    public struct Snapshot: Sendable, Hashable, Codable {
        /// The queue's name.
        public internal(set) var queue: String
        /// As `OperationQueue.isSuspended`.
        public internal(set) var isSuspended: Bool
        /// As `OperationQueue.maxConcurrentOperationCount`.
        public internal(set) var limit: Int
        /// The counts of that instant.
        public internal(set) var metrics: Metrics
        /// The items that run, then those that are ready, by priority, then those that wait.
        public internal(set) var entries: [Entry]
        /// How many others there were, beyond the number that the snapshot was to list.
        public internal(set) var omitted: Int
    }

    /// Takes a snapshot (contract X6). From any thread, also of a suspended queue, or of one that makes no progress.
    ///
    /// The queue's lock is held while the operations are found, in time proportional to `count`, and to what was added
    /// since the queue was last looked at. Names and dependencies are read after that, without the lock. So they may be
    /// newer, and a dependency that has finished meanwhile is not listed. Closures stay closures.
    ///
    /// The overridden `name` of an operation or a queue is called on the calling thread. If one of the operations ends
    /// and is released meanwhile, its deinit runs there, too.
    ///
    /// - Parameter count: the most operations to list. If there are more, the ready ones, and the waiting ones, have at
    ///   least half of what the running ones leave.
    public final func snapshot(atMost count: Int = 1_000) -> Snapshot {
        var (snapshot, operations) = core.findItems(atMost: max(0, count))
        let needed = zip(snapshot.entries, operations).map { entry, operation in
            entry.state == .waiting ? operation?.latestUnfinishedDependencies() ?? [] : []
        }
        let queues = QueueRegister.queues(at: Set(needed.joined().compactMap(\.queueAddress)))
        let places = Dictionary(uniqueKeysWithValues: queues.map { (Unmanaged.passUnretained($0.core).toOpaque(), $0) })
        for case (let index, let operation?) in operations.enumerated() {
            let dependencies = needed[index].map { one in
                Snapshot.Dependency(one, in: one.queueAddress.flatMap { places[$0] })
            }
            snapshot.entries[index].describe(operation, dependencies)
        }
        snapshot.queue = name ?? ""
        return snapshot
    }

    /// Takes a snapshot of every queue that holds something, in no order (contract X6). From any thread.
    ///
    /// - Parameter count: the most operations to list of each.
    public static func snapshots(atMost count: Int = 1_000) -> [Snapshot] {
        QueueRegister.queues().filter { !$0.core.isEmpty }.map { $0.snapshot(atMost: count) }
    }
}

extension OperationQueue.Snapshot {
    /// The state of an operation.
    public enum State: String, Sendable, Codable {
        /// In no queue, and not started.
        case notAdded
        /// Held back by dependencies, an overridden `isReady` or a barrier.
        case waiting
        /// Ready to be started. A dependency is called ready even if a barrier of its queue holds it back.
        case ready
        /// Begun, and not ended.
        case running
    }

    /// A reason why an operation is not started.
    public enum Reason: String, Sendable, Codable {
        /// It depends on operations that are not finished: see `Entry.dependencies`.
        case dependencies
        /// Its overridden `isReady` says no.
        case readiness
        /// A barrier was added before it, and is not finished: see `Entry.barrier`.
        case barrier
        /// It is a barrier, and something that was added before it is not finished.
        case earlier
        /// The queue is suspended.
        case suspended
        /// As many operations run as the queue's limit allows.
        case limit
        /// Ready ones of a higher priority, or cancelled ones, go first.
        case priority
        /// No worker has come for it: all are busy, or one is on its way.
        case worker
    }

    /// An operation, a closure or a barrier in a queue.
    public struct Entry: Sendable, Hashable, Codable {
        /// The kind of the work.
        public enum Kind: String, Sendable, Codable {
            /// An `Operation`.
            case operation
            /// A closure that was added by `addOperation`, and has no object.
            case closure
            /// A block that was added by `addBarrierBlock`.
            case barrier
        }

        /// Its number in the queue's order of adding, from 0 on.
        public internal(set) var number: UInt64
        /// Whether an operation, a closure or a barrier was added.
        public internal(set) var kind: Kind
        /// An operation's class.
        public internal(set) var type: String?
        /// An operation's name.
        public internal(set) var name: String?
        /// An operation's address, as in its `description`.
        public internal(set) var address: String?
        /// Whether it waits, is ready or runs.
        public internal(set) var state: State
        /// Whether it was cancelled.
        public internal(set) var isCancelled = false
        /// The raw value of its `queuePriority`.
        public internal(set) var priority = 0
        /// The reasons why it is not started. Empty if it runs, or has just become ready.
        public internal(set) var reasons: [Reason]
        /// Unfinished operations that it depends on, a few.
        public internal(set) var dependencies: [Dependency] = []
        /// How many unfinished ones there are in all.
        public internal(set) var unfinishedDependencies = 0
        /// The number of the barrier that holds it back.
        public internal(set) var barrier: UInt64?
    }

    /// An operation that another one depends on.
    public struct Dependency: Sendable, Hashable, Codable {
        /// Its class.
        public internal(set) var type: String
        /// Its name.
        public internal(set) var name: String?
        /// Its address, as in its `description`.
        public internal(set) var address: String
        /// Its queue's name; nil if it is in none.
        public internal(set) var queue: String?
        /// Whether it waits, is ready or runs.
        public internal(set) var state: State
        /// Whether it was cancelled. Its dependents wait until it has ended, all the same.
        public internal(set) var isCancelled: Bool
    }
}

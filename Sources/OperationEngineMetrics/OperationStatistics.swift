import OperationEngine

/// A receiver that records how long operations wait and run, and how many are in the queue (contract X4).
///
/// Install it with `OperationTrace.install(statistics, for: .operations)`. It keeps a few words for each operation that
/// is ready or runs. It allocates only when more operations are ready or run than ever before. Every member may be used
/// from any thread.
public final class OperationStatistics: OperationTrace.Receiver {
    /// The counts recorded so far.
    public struct Summary: Sendable {
        /// Operations that were enqueued.
        public internal(set) var enqueued = 0
        /// Operations that are finished, cancelled ones included.
        public internal(set) var finished = 0
        /// The time from ready to started, in nanoseconds, of every operation that has started.
        public internal(set) var waiting = OperationTrace.Histogram()
        /// The time from started to finished, in nanoseconds, of every operation that has finished.
        public internal(set) var running = OperationTrace.Histogram()
        /// How many unfinished operations the queue had when each operation was enqueued, itself included. Not included
        /// are others of the same `addOperations`.
        public internal(set) var depth = OperationTrace.Histogram()

        /// Nothing yet.
        public init() {}

        fileprivate mutating func add(_ other: Summary) {
            enqueued += other.enqueued
            finished += other.finished
            waiting.add(other.waiting)
            running.add(other.running)
            depth.add(other.depth)
        }
    }

    private let queue: OperationTrace.QueueID?
    private let shards = (0..<OperationStatistics.shardCount).map { _ in Shard() }
    /// A power of two. Threads with events of different operations seldom contend for the same lock.
    private static let shardCount = 8

    /// Records the operations of one queue, or, with nil, of all queues together.
    public init(of queue: OperationQueue? = nil) { self.queue = queue.map { OperationTrace.QueueID($0) } }

    /// The current counts. An operation whose event is just being delivered may be missing.
    public var summary: Summary {
        var sum = Summary()
        for shard in shards { sum.add(shard.summary) }
        return sum
    }

    /// Called by the engine.
    public func receive(_ event: OperationTrace.OperationEvent) {
        if event.isBarrier || queue != nil && event.queue != queue { return }
        shards[Int(truncatingIfNeeded: event.id.rawValue) & (Self.shardCount - 1)].note(event)
    }

    /// Some of the operations.
    private final class Shard: @unchecked Sendable {
        private struct Times {
            var ready: Int64?
            var started: Int64?
        }

        private let lock = FutexLock()
        // Guarded by `lock`.
        private var all = Summary()
        /// Operations that are ready and not finished.
        private var current: [OperationTrace.OperationID: Times] = [:]

        var summary: Summary { lock.withLock { all } }

        func note(_ event: OperationTrace.OperationEvent) {
            // The operation itself is counted in when it is pushed, right afterwards.
            let depth = event.enteredQueue.map { $0.operationCount + 1 }
            lock.lock()
            defer { lock.unlock() }
            switch event.step {
            case .enqueued:
                all.enqueued += 1
                if let depth { all.depth.record(Int64(depth)) }
            case .ready:
                current[event.id] = Times(ready: event.time)
            case .started:
                if let ready = current[event.id]?.ready { all.waiting.record(event.time - ready) }
                current[event.id] = Times(started: event.time)
            case .finished:
                all.finished += 1
                if let started = current.removeValue(forKey: event.id)?.started {
                    all.running.record(event.time - started)
                }
            case .notified: break
            }
        }
    }
}

extension OperationQueue {
    /// Counts of a queue at one instant: operations, closures and barriers.
    ///
    /// They fit together, because they are read in one step: `added` is the sum of `waiting`, `ready`, `running` and
    /// `finished`. What another thread adds or ends at the same time is in or not.
    public struct Metrics: Sendable, Hashable, Codable {
        /// Added since the queue was made. Includes every call of `addOperation` that has returned.
        public internal(set) var added = 0
        /// Chosen to be started since the queue was made. An operation whose overridden `isReady` withdraws its consent
        /// at the last moment is counted until then.
        public internal(set) var started = 0
        /// Ended since the queue was made, cancelled ones included. An end counts when the slot is free again: that is
        /// before a completion block is called, and before a wait for the queue returns, except for a barrier's.
        public internal(set) var finished = 0
        /// Cancelled before their turn came, and ended, or about to end, without `main`. Operations that were cancelled
        /// later, and those that wait and are cancelled, are not counted. One whose overridden `isReady` withdraws its
        /// consent is counted until then, as in `started`.
        public internal(set) var cancelled = 0
        /// Held back by dependencies, an overridden `isReady` or a barrier.
        public internal(set) var waiting = 0
        /// Ready to be started, and held back by suspension, the limit or the lack of a worker.
        public internal(set) var ready = 0
        /// Begun, and not ended.
        public internal(set) var running = 0
        /// See `oldestWait`.
        public internal(set) var oldestWaitNanoseconds: Int64 = 0

        /// How long the first operation that has not begun is known to be in the queue; zero if there is none.
        ///
        /// Adding takes no time stamp. The time counts from the first reading of `metrics`, or the first snapshot, that
        /// found the operation there. So it is too short by at most the time between two readings: read every ten
        /// seconds, and it is ten seconds too short at most. After the first reading it is zero. If an operation waits
        /// through more than 64 readings, those in between become fewer, and the next ones may be too short by more.
        public var oldestWait: Duration { .nanoseconds(oldestWaitNanoseconds) }
    }

    /// Counts what the queue has done and what it holds (contract X5). From any thread.
    ///
    /// It takes the queue's lock, as `operationCount` does, and time proportional to what was added since the queue was
    /// last looked at. Nothing is stopped, and no closure becomes an object. Adding and running keep no counts for it.
    public final var metrics: Metrics { core.metrics }
}

extension QueueState {
    /// The number of the first item that has not begun, by the fronts of the lists. An item that was put back, because
    /// it got another priority or a dependency, is overlooked until it is at the front.
    var firstWaiting: UInt64? {
        var first = UInt64.max
        func note(_ item: QueueItem.Pointer) { first = min(first, item.pointee.sequence) }
        waiting.first.map(note)
        ready.visitFronts(note)
        // What is held was added later.
        if first == .max {
            held.visitAll {
                $0.waiting.first.map(note)
                $0.ready.visitFronts(note)
            }
        }
        return first == .max ? nil : first
    }
}

extension QueueCore {
    var metrics: OperationQueue.Metrics {
        let now = Deadline.now()
        return withAllAdmitted { readMetrics(at: now) }
    }

    /// Under the lock, with an empty inbox.
    func readMetrics(at now: Int64) -> OperationQueue.Metrics {
        var metrics = OperationQueue.Metrics()
        let tally = state.tally
        metrics.added = Int(state.nextSequence)
        metrics.finished = endedCount + tally.endedAlone
        metrics.running = state.running + tally.slotlessRunning
        metrics.ready = state.ready.count
        metrics.started = metrics.finished - tally.unstarted + metrics.running
        metrics.cancelled = tally.cancelled
        metrics.waiting = metrics.added - metrics.finished - metrics.running - metrics.ready
        metrics.oldestWaitNanoseconds = waitMarks.age(of: state.firstWaiting, added: state.nextSequence, at: now)
        return metrics
    }
}

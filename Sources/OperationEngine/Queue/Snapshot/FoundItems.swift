/// An item of a queue, as found under the queue's lock. Keeps an operation alive.
struct FoundItem {
    let number: UInt64
    /// Nil for a closure.
    let operation: Operation?
    let state: OperationQueue.Snapshot.State
    /// As far as the queue knows them.
    var reasons: [OperationQueue.Snapshot.Reason] = []
    /// The barrier that holds it back.
    var barrier: UInt64?

    init(_ item: QueueItem.Pointer, _ state: OperationQueue.Snapshot.State) {
        self.init(item.pointee.sequence, item.isClosure ? nil : item.operation.takeUnretainedValue(), state)
    }

    init(_ number: UInt64, _ operation: Operation?, _ state: OperationQueue.Snapshot.State) {
        (self.number, self.operation, self.state) = (number, operation, state)
    }
}

/// The items of a queue at one instant, at most a given number, and its settings.
struct FoundItems {
    let metrics: OperationQueue.Metrics
    let limit: Int
    let isSuspended: Bool
    var running: [FoundItem] = []
    var ready: [FoundItem] = []
    var waiting: [FoundItem] = []
    private(set) var omitted = 0

    /// Drops what is too much: each list has up to `count` items.
    mutating func keep(atMost count: Int) {
        let rest = count - running.count
        let total = ready.count + waiting.count
        if total > rest {
            let readyCount = min(ready.count, max(rest / 2, rest - waiting.count))
            ready.removeLast(ready.count - readyCount)
            waiting.removeLast(max(0, waiting.count - (rest - readyCount)))
        }
        // A list that is whole omits nothing, though items may be between two lists just now.
        if running.count == count { omitted += max(0, metrics.running - count) }
        omitted += max(0, metrics.ready - ready.count)
        if ready.count + waiting.count >= rest { omitted += max(0, metrics.waiting - waiting.count) }
    }
}

extension QueueCore {
    /// Finds what the queue holds, and why that is not started. Each list is followed only as far as needed.
    func find(atMost count: Int) -> FoundItems {
        let now = Deadline.now()
        return lock.withLock {
            takeIn()
            var found = FoundItems(
                metrics: readMetrics(at: now), limit: state.limit, isSuspended: state.isSuspended)
            runners.visitAll { runner in
                if found.running.count < count, let item = runner.itemSeen() { found.running.append(item) }
            }
            state.find(&found, atMost: count)
            found.keep(atMost: count)
            return found
        }
    }
}

extension QueueState {
    /// Adds guests to those that run, and finds the others, at most `count` in each list.
    func find(_ found: inout FoundItems, atMost count: Int) {
        guests.visit {
            guard found.running.count < count else { return false }
            found.running.append(FoundItem($0, .running))
            return true
        }
        let readyReason: OperationQueue.Snapshot.Reason =
            isSuspended ? .suspended : freeSlots > 0 ? .worker : .limit
        ready.visit { item, isBehindOthers in
            guard found.ready.count < count else { return false }
            var entry = FoundItem(item, .ready)
            let needsSlot = item.pointee.place.level != .slotless
            entry.reasons = [needsSlot || isSuspended ? readyReason : .worker] + (isBehindOthers ? [.priority] : [])
            found.ready.append(entry)
            return true
        }
        let others: [OperationQueue.Snapshot.Reason] = isSuspended ? [.suspended] : []
        func wait(_ item: QueueItem.Pointer, behind segment: HeldSegment?) -> Bool {
            guard found.waiting.count < count else { return false }
            var entry = FoundItem(item, .waiting)
            if let segment {
                let isBarrier = entry.operation?.isBarrier == true
                entry.reasons = [isBarrier ? .earlier : .barrier]
                // The segment behind a barrier begins with the next number.
                if !isBarrier { entry.barrier = segment.firstSequence - 1 }
            }
            entry.reasons += others
            found.waiting.append(entry)
            return true
        }
        waiting.visit { wait($0, behind: nil) }
        held.visit { segment in
            segment.ready.visit { item, _ in wait(item, behind: segment) }
            segment.waiting.visit { wait($0, behind: segment) }
            return found.waiting.count < count
        }
    }
}

extension Operation {
    /// Another operation, and where its queue lies, or lay.
    struct Needed {
        let operation: Operation
        let queueAddress: UnsafeMutableRawPointer?
    }

    private static let mostDependencies = 8
    private static let mostVisited = 1_000

    /// The number of unfinished dependencies. The state word counts all of a `DependencyGraph` as one.
    final var unfinishedDependencyCount: Int {
        let pending = lock.withLock { dependencyEdges.node?.pointee.pendingCount ?? 0 }
        return Int(state.load().unfinishedDependencies) + max(0, pending - 1)
    }

    /// The latest unfinished dependencies, a few.
    final func unfinishedDependencies() -> [Needed] {
        guard !state.load().isReady else { return [] }
        return lock.withLock {
            var all: [Needed] = []
            for entry in dependencyEdges.all.prefix(Self.mostVisited) where all.count < Self.mostDependencies {
                let dependency = entry.takeUnretainedValue()
                let phase = dependency.state.load().phase
                if phase != .finished, !all.contains(where: { $0.operation === dependency }) {
                    // From the phase `enqueued` on, `queue` does not change any more.
                    let isInQueue = phase.rawValue >= OperationState.Phase.enqueued.rawValue
                    let queue = isInQueue ? dependency.queue?.toOpaque() : nil
                    all.append(Needed(operation: dependency, queueAddress: queue))
                }
            }
            return all
        }
    }
}

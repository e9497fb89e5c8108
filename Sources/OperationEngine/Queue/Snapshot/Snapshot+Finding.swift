extension QueueCore {
    /// Finds what the queue holds, at most `count` items, and why that is not started. Each list is followed only as far
    /// as needed. If there are more, the ready ones, and the waiting ones, have at least half of what the running ones
    /// leave.
    ///
    /// - Returns: a snapshot without names and dependencies, and the operations of its entries, kept alive.
    func findItems(atMost count: Int) -> (OperationQueue.Snapshot, [Operation?]) {
        let now = Deadline.now()
        return withAllAdmitted {
            var snapshot = OperationQueue.Snapshot(
                queue: "", isSuspended: state.isSuspended, limit: state.limit, metrics: readMetrics(at: now),
                entries: [], omitted: 0)
            var operations: [Operation?] = []
            var (running, ready) = (0, 0)
            let metrics = snapshot.metrics
            func add(_ item: QueueItem.Pointer, _ found: OperationQueue.Snapshot.State, upTo most: Int) -> Bool {
                guard operations.count < most else { return false }
                let operation = item.isClosure ? nil : item.operation.takeUnretainedValue()
                let kind: OperationQueue.Snapshot.Entry.Kind =
                    operation.map { $0.isBarrier ? .barrier : .operation } ?? .closure
                snapshot.entries.append(.init(number: item.pointee.sequence, kind: kind, state: found, reasons: []))
                operations.append(operation)
                return true
            }
            func addRunning(_ item: QueueItem.Pointer) -> Bool {
                defer { running = operations.count }
                return add(item, .running, upTo: count)
            }
            runners.visit {
                guard let item = $0.itemSeen() else { return }
                if item.isClosure || !item.operation.takeUnretainedValue().state.load().isFinished {
                    _ = addRunning(item)
                }
            }
            state.visit { item, segment in
                if item.pointee.place.isChosen { return addRunning(item) }
                let rest = count - running
                let isReady = segment == nil && item.pointee.place.kind == .ready
                let most = isReady ? running + max(rest / 2, rest - metrics.waiting) : count
                guard add(item, isReady ? .ready : .waiting, upTo: most) else { return false }
                if isReady { ready += 1 }
                state.explain(&snapshot.entries[operations.count - 1], item.pointee.place, segment)
                return true
            }
            // A list that is whole omits nothing, though items may be between two lists just now.
            let waiting = operations.count - running - ready
            snapshot.omitted = max(0, metrics.ready - ready)
            if running == count { snapshot.omitted += max(0, metrics.running - running) }
            if operations.count == count { snapshot.omitted += max(0, metrics.waiting - waiting) }
            return (snapshot, operations)
        }
    }
}

extension QueueState {
    /// Adds the reasons why an item of the lists is not started, as far as the queue knows them.
    fileprivate func explain(
        _ entry: inout OperationQueue.Snapshot.Entry, _ place: ListPlace, _ segment: HeldSegment?
    ) {
        if let segment {
            entry.reasons.append(entry.kind == .barrier ? .earlier : .barrier)
            // The segment behind a barrier begins with the next number.
            if entry.kind != .barrier { entry.barrier = segment.firstSequence - 1 }
        }
        if isSuspended {
            entry.reasons.append(.suspended)
        } else if entry.state == .ready {
            entry.reasons.append(freeSlots > 0 || place.level == .slotless ? .worker : .limit)
        }
        if entry.state == .ready, ready.isBehindOthers(place) { entry.reasons.append(.priority) }
    }
}

extension OperationQueue.Snapshot.Entry {
    /// Adds what is read without the queue's lock.
    ///
    /// - Parameter dependencies: a few of the unfinished ones.
    mutating func describe(_ operation: Operation, _ dependencies: [OperationQueue.Snapshot.Dependency]) {
        let word = operation.state.load()
        isCancelled = word.isCancelled
        if kind == .barrier { return }
        (type, name, address) = (operation.typeText, operation.name, operation.addressText)
        priority = Operation.QueuePriority(level: word.level).rawValue
        guard state == .waiting else { return }
        self.dependencies = dependencies
        unfinishedDependencies = max(operation.unfinishedDependencyCount, dependencies.count)
        if !dependencies.isEmpty {
            reasons.insert(.dependencies, at: 0)
        } else if word.has(OperationState.Word.hasOwnReadiness) {
            reasons.insert(.readiness, at: 0)
        }
    }
}

extension OperationQueue.Snapshot.Dependency {
    init(_ operation: Operation, in queue: OperationQueue?) {
        let word = operation.state.load()
        (type, name, address) = (operation.typeText, operation.name, operation.addressText)
        (self.queue, isCancelled) = (queue?.name, word.isCancelled)
        switch word.phase {
        case .idle, .claimed: state = .notAdded
        case .enqueued: state = word.isReady ? .ready : .waiting
        case .waiting: state = .waiting
        case .filing, .ready: state = .ready
        case .dispatched, .executing, .finished: state = .running
        }
    }
}

extension Operation {
    private static let mostDependencies = 8
    private static let mostVisited = 1_000

    fileprivate final var typeText: String { String(describing: Swift.type(of: self)) }

    /// The address of its queue, which may be gone; nil if it is in none. From the phase `enqueued` on, `queue` does not
    /// change any more.
    final var queueAddress: UnsafeMutableRawPointer? {
        state.load().phase.rawValue >= OperationState.Phase.enqueued.rawValue ? queue?.toOpaque() : nil
    }

    /// The number of unfinished dependencies. The state word counts all of a `DependencyGraph` as one.
    fileprivate final var unfinishedDependencyCount: Int {
        let pending = lock.withLock { dependencyEdges.node?.pointee.pendingCount ?? 0 }
        return Int(state.load().unfinishedDependencies) + max(0, pending - 1)
    }

    /// The latest unfinished dependencies, a few.
    final func latestUnfinishedDependencies() -> [Operation] {
        guard !state.load().isReady else { return [] }
        return lock.withLock {
            var all: [Operation] = []
            for entry in dependencyEdges.all.prefix(Self.mostVisited) where all.count < Self.mostDependencies {
                let dependency = entry.takeUnretainedValue()
                if !dependency.state.load().isFinished, !all.contains(where: { $0 === dependency }) {
                    all.append(dependency)
                }
            }
            return all
        }
    }
}

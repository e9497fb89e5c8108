extension OperationQueue.Snapshot.Entry {
    /// - Parameter dependencies: a few of the unfinished ones.
    init(_ item: FoundItem, _ dependencies: [OperationQueue.Snapshot.Dependency] = []) {
        (number, state, reasons, barrier) = (item.number, item.state, item.reasons, item.barrier)
        guard let operation = item.operation else {
            kind = .closure
            return
        }
        let word = operation.state.load()
        kind = operation.isBarrier ? .barrier : .operation
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
    fileprivate final var typeText: String { String(describing: Swift.type(of: self)) }
}

// MARK: - Text

extension OperationQueue.Snapshot: CustomStringConvertible {
    /// A line with the counts, and a line for each operation.
    public var description: String {
        var head = "queue '\(queue)': \(metrics.running) running, \(metrics.ready) ready, \(metrics.waiting) waiting; "
        head += limit == OperationQueue.defaultMaxConcurrentOperationCount ? "default limit" : "limit \(limit)"
        if isSuspended { head += ", suspended" }
        if metrics.oldestWait > .zero { head += ", oldest wait \(metrics.oldestWait)" }
        let rest = omitted > 0 ? ["and \(omitted) more"] : []
        return ([head] + (entries.map(\.description) + rest).map { "  \($0)" }).joined(separator: "\n")
    }
}

extension OperationQueue.Snapshot.Entry: CustomStringConvertible {
    /// The operation, its state, and what holds it back.
    public var description: String {
        let label = [type ?? kind.rawValue, address, name.map { "'\($0)'" }].compactMap(\.self).joined(separator: " ")
        let flags = (isCancelled ? " cancelled" : "") + (priority != 0 ? " priority \(priority)" : "")
        let why = reasons.map(text).joined(separator: ", ")
        return "#\(number) \(label)\(flags) \(state.rawValue)\(why.isEmpty ? "" : ": ")\(why)"
    }

    private func text(_ reason: OperationQueue.Snapshot.Reason) -> String {
        switch reason {
        case .dependencies:
            let more = unfinishedDependencies - dependencies.count
            return "depends on " + dependencies.map(\.description).joined(separator: ", ")
                + (more > 0 ? " and \(more) more" : "")
        case .readiness: return "its isReady says no"
        case .barrier: return "behind barrier" + (barrier.map { " #\($0)" } ?? "")
        case .earlier: return "earlier ones are not finished"
        case .suspended: return "queue suspended"
        case .limit: return "limit reached"
        case .priority: return "others go first"
        case .worker: return "no worker yet"
        }
    }
}

extension OperationQueue.Snapshot.Dependency: CustomStringConvertible {
    /// The operation, its state and its queue.
    public var description: String {
        let label = [type, address, name.map { "'\($0)'" }].compactMap(\.self).joined(separator: " ")
        let place = queue.map { " in '\($0)'" } ?? ""
        let flags = isCancelled ? "cancelled, " : ""
        return "\(label) (\(flags)\(state == .notAdded ? "not added" : state.rawValue)\(place))"
    }
}

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

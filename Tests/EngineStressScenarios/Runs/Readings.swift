import OperationEngine

/// Checks of a queue's readings while other threads use it.
extension StressRun {
    /// Reads the metrics twice, and takes a snapshot (contract X5, X6).
    func readMetrics(of queue: OperationQueue) {
        let (before, after) = (queue.metrics, queue.metrics)
        for metrics in [before, after] {
            let parts = [metrics.waiting, metrics.ready, metrics.running, metrics.finished]
            require(parts.allSatisfy { $0 >= 0 } && parts.reduce(0, +) == metrics.added, "parts of \(metrics) (X5)")
            require(metrics.started <= metrics.added && metrics.cancelled <= metrics.added, "too many: \(metrics) (X5)")
        }
        let snapshot = queue.snapshot(atMost: 40)
        let numbers = Set(snapshot.entries.map(\.number))
        require(numbers.count == snapshot.entries.count && numbers.count <= 40, "listed twice: \(snapshot) (X6)")
        require(before.added <= after.added && before.finished <= after.finished, "\(before), then \(after) (X5)")
    }

    /// An empty queue has ended all that was added; a barrier's worker may be a moment behind.
    func readMetrics(ofEmpty queue: OperationQueue) {
        self.await { queue.metrics.finished == queue.metrics.added }
        readMetrics(of: queue)
    }
}

extension Operation {
    /// Whether the operation says that it is finished, or the engine has ended it, whatever the operation says (contract
    /// C14).
    var hasEnded: Bool { isFinished || ending != nil }
}

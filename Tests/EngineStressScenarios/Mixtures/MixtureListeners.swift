import Glibc
import OperationEngine
import TestSupport

/// Observers of a mixture's queues. A handler may call whatever it wants (contract D20): nothing is chosen or held
/// back that it could wait for.
extension Mixture {
    private static let mostWaiters = 4

    /// Before anything is added.
    func listen(to record: MixtureQueue) {
        let run = run
        let observation: Observation
        switch record.plan.listener {
        case .none: return
        case .counting: observation = self.observation(counting: record)
        case .listing:
            observation = record.queue.observe(\.operations, options: [.old, .new]) { [self] _, change in
                for listed in [change.oldValue, change.newValue] {
                    let closures = record.closuresAdded.load(ordering: .acquiring)
                    let others = (listed ?? []).filter { operation in !items.contains { $0.operation === operation } }
                    run.require(others.count <= closures, "a queue lists \(others.count) closures, not \(closures)")
                }
            }
        case .locking:
            let lock = observersLock
            observation = record.queue.observe(\.operationCount) { _, _ in
                lock.withLock { $0 += 1 }
                run.advance()
            }
        case .draining:
            observation = record.queue.observe(\.operationCount) { [self] queue, _ in
                waitUntilDrained(queue, record)
            }
        }
        record.observations.withLock { $0 = [observation] }
    }

    func observation(counting record: MixtureQueue) -> Observation {
        let run = run
        return record.queue.observe(\.operationCount, options: [.old, .new]) { queue, change in
            let count = change.newValue ?? 0
            let added = record.added.load(ordering: .acquiring)
            run.require(
                0 <= count && count <= Self.mostCounted(added), "\(queue) counts \(count) of \(added) added (D23)")
        }
    }

    /// An observer that waits for all of its queue, on a thread that runs operations.
    private func waitUntilDrained(_ queue: OperationQueue, _ record: MixtureQueue) {
        guard !HastyThread.isCurrent else { return }
        defer { record.waiters.subtract(1, ordering: .relaxed) }
        guard record.waiters.add(1, ordering: .relaxed).newValue <= Self.mostWaiters else { return }
        requireInTime(
            queue.waitUntilFinished(timeout: limit), "an observer waits for \(queue) in vain (contract D20, O3)")
    }

    /// The thread that waits for operations while it has the lock that observers of their queues take.
    func holdLock() {
        var random = run.generator(11)
        let candidates = items.filter { item in
            item.part.kind.isObject && queues[item.part.queue].plan.listener == .locking
        }
        for item in candidates.shuffled(using: &random).prefix(20).sorted(by: { $0.index < $1.index }) {
            run.await { item.isAdded }
            observersLock.withLock { _ in
                guard let operation = item.operation else { return }
                requireInTime(
                    operation.waitUntilFinished(timeout: limit),
                    "\(item) waits for the observers of its queue (contract D20)")
            }
            run.advance()
        }
    }
}

import OperationEngine
import TestSupport

/// Observers of a program's queues. A handler may call whatever it wants (contract D20): nothing is chosen or held
/// back that it could wait for.
extension Program {
    private static let mostWaiters = 4

    /// Before anything is added.
    func listen(to record: QueueRecord) {
        guard let queue = record.queue else { return }
        let observation: Observation
        switch record.plan.listener {
        case .none: return
        case .counting: observation = self.observation(counting: record)!
        case .listing:
            observation = queue.observe(\.operations, options: [.old, .new]) { [self] _, change in
                for listed in [change.oldValue ?? [], change.newValue ?? []] {
                    let others = listed.count { operation in !subjects.contains { $0.operation === operation } }
                    let closures = subjects.count { subject in
                        subject.kind == .closure && subject.addBegin.load(ordering: .acquiring) != 0
                    }
                    run.require(others <= closures, "a queue lists \(others) closures, not \(closures) (D23)")
                }
            }
        case .locking:
            observation = queue.observe(\.operationCount) { [run, observersLock] _, _ in
                observersLock.withLock { $0 += 1 }
                run.advance()
            }
        case .draining:
            observation = queue.observe(\.operationCount) { [self] queue, _ in waitUntilDrained(queue, record) }
        }
        record.observations.withLock { $0 = [observation] }
    }

    /// Nil if the queue is dropped.
    private func observation(counting record: QueueRecord) -> Observation? {
        let rank = record.plan.rank
        return record.queue?.observe(\.operationCount, options: [.old, .new]) { [self] queue, change in
            let count = change.newValue ?? 0
            let added = subjects.count { subject in
                subject.task.queue == rank && subject.addBegin.load(ordering: .acquiring) != 0
            }
            run.require(
                0 <= count && count <= Self.mostCounted(added), "\(queue) counts \(count) of \(added) added (D23)")
        }
    }

    /// A counting observer of a queue comes, or all go.
    func comeAndGo(_ record: QueueRecord, _ random: inout SeededGenerator) {
        guard record.plan.listener == .none || record.plan.listener == .counting else { return }
        if random.hits(50) {
            record.observations.withLock { $0 = [] }
        } else if let observation = observation(counting: record) {
            record.observations.withLock { $0.append(observation) }
        }
    }

    /// An observer that waits for all of its queue, on a thread that runs operations.
    private func waitUntilDrained(_ queue: OperationQueue, _ record: QueueRecord) {
        guard !HastyThread.isCurrent else { return }
        defer { record.waiters.subtract(1, ordering: .relaxed) }
        guard record.waiters.add(1, ordering: .relaxed).newValue <= Self.mostWaiters else { return }
        run.require(
            queue.waitUntilFinished(timeout: limit),
            "an observer waits for \(queue) in vain (contract D20, O3): \(stateOfAffairs)")
    }

    /// The thread that waits for operations while it has the lock that observers of their queues take.
    @Sendable func holdLock() {
        var random = run.generator(97)
        let candidates = subjects.filter { subject in
            subject.kind.isObject && plan.queues[subject.task.queue].listener == .locking
        }
        for subject in candidates.shuffled(using: &random).prefix(20).sorted(by: { $0.index < $1.index }) {
            run.await { subject.isAdded }
            observersLock.withLock { _ in
                guard let operation = subject.operation else { return }
                run.require(
                    operation.waitUntilFinished(timeout: limit),
                    "\(subject) waits for the observers of its queue (contract D20): \(stateOfAffairs)")
            }
            run.advance()
        }
    }
}

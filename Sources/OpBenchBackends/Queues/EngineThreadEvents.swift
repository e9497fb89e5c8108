import OpBenchModel
import OperationEngine

/// The engine's reports about its threads, contract X4. One recording at a time in a process.
package final class EngineThreadEvents: OperationTrace.Receiver, @unchecked Sendable {
    /// A receiver is never released, so there is one.
    static let shared = EngineThreadEvents()

    private let lock = PlainLock()
    /// Guarded by `lock`, as is `isKeeping`: events may come after `stop`.
    private var events: [ThreadEvent] = []
    private var isKeeping = false

    private init() {}

    /// Starts recording, and discards earlier events.
    package func start() {
        lock.whileLocked {
            events.removeAll(keepingCapacity: true)
            isKeeping = true
        }
        OperationTrace.install(self, for: .threads)
    }

    /// - Returns: the recorded events, in any order.
    package func stop() -> [ThreadEvent] {
        OperationTrace.remove(self)
        return lock.whileLocked {
            isKeeping = false
            return events
        }
    }

    package func receive(_ event: OperationTrace.ThreadEvent) {
        if [.begin, .park, .unpark].contains(event.step) { RunQueue.threadActs() }
        guard let kind = ThreadStep(rawValue: event.step.rawValue) else { return }
        lock.whileLocked {
            guard isKeeping else { return }
            events.append(ThreadEvent(kind, time: event.time, thread: event.thread, other: event.other))
        }
    }
}

import OpBenchModel
import OperationEngine

/// The engine's reports about its threads, contract X4.
final class EngineThreadEvents: OperationTrace.Receiver, ThreadEventSource, @unchecked Sendable {
    /// A receiver is never released, so there is one.
    static let shared = EngineThreadEvents()

    private let lock = PlainLock()
    /// Guarded by `lock`, as is `isKeeping`: events may come after `stop`.
    private var events: [ThreadEvent] = []
    private var isKeeping = false

    private init() {}

    func start() {
        lock.whileLocked {
            events.removeAll(keepingCapacity: true)
            isKeeping = true
        }
        OperationTrace.install(self, for: .threads)
    }

    func stop() -> [ThreadEvent] {
        OperationTrace.remove(self)
        return lock.whileLocked {
            isKeeping = false
            return events
        }
    }

    func receive(_ event: OperationTrace.ThreadEvent) {
        if [.begin, .park, .unpark].contains(event.step) { RunQueue.threadActs() }
        guard let kind = ThreadStep(rawValue: event.step.rawValue) else { return }
        lock.whileLocked {
            guard isKeeping else { return }
            events.append(ThreadEvent(kind, time: event.time, thread: event.thread, other: event.other))
        }
    }
}

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
        let kind: ThreadEvent.Kind =
            switch event.step {
            case .begin: .begin
            case .end: .end
            case .park: .park
            case .unpark: .unpark
            case .wake: .wake
            case .leaseTaken: .leaseTaken
            case .leaseGivenUp: .leaseGivenUp
            case .growth: .growth
            case .shrinkage: .shrinkage
            }
        lock.whileLocked {
            guard isKeeping else { return }
            events.append(ThreadEvent(kind, time: event.time, thread: event.thread, other: event.other))
        }
    }
}

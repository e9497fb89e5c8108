import Dispatch
import OperationEngine
import Synchronization
import TestSupport

/// A queue of a program, and what was done to it. There are more of them than the plan has, since one that was dropped
/// is replaced.
final class QueueRecord: Sendable {
    enum Setting: Sendable {
        case suspended(Bool)
        case limit(Int)
    }

    struct Call: Sendable {
        let setting: Setting
        let span: History.Span
    }

    let plan: Plan.Queue
    /// Nil once dropped.
    private let held: Guarded<OperationQueue?>
    private let reference: WeakQueue
    /// The initial settings are calls at time 0.
    private let log: Guarded<[Call]>
    private let cancels = Guarded<[History.Span]>([])
    let observations = Guarded<[Observation]>([])
    /// Observers of it that wait for it at the moment.
    let waiters = Atomic<Int>(0)

    init(_ plan: Plan.Queue, _ live: LiveCount, isSuspended: Bool) {
        self.plan = plan
        let queue = plan.isOfOwnClass ? CountedQueue(live) : OperationQueue()
        switch plan.target {
        case .pool: break
        case .serialQueue: queue.underlyingQueue = DispatchQueue(label: "stress.serial")
        case .concurrentQueue: queue.underlyingQueue = DispatchQueue(label: "stress", attributes: .concurrent)
        }
        queue.maxConcurrentOperationCount = plan.limit
        queue.isSuspended = isSuspended
        queue.qualityOfService = plan.quality
        held = Guarded(queue)
        reference = WeakQueue(queue)
        let beginning = History.Span(begin: 0, end: 0)
        log = Guarded([
            Call(setting: .limit(plan.limit), span: beginning),
            Call(setting: .suspended(isSuspended), span: beginning),
        ])
    }

    var queue: OperationQueue? { held.read() }
    /// Whether the queue has been freed: then the ends of all its operations have been announced (contract P2, Q3).
    var isFreed: Bool { reference.queue == nil }
    var calls: [Call] { log.read() }
    var cancelCalls: [History.Span] { cancels.read() }

    /// Changes a setting, unless the queue is gone. Queues that may be dropped are set by one thread at a time: a
    /// dropped one is left running.
    func set(_ setting: Setting, _ history: History) {
        if plan.mayBeDropped {
            held.withLock { queue in
                if let queue { apply(setting, to: queue, history) }
            }
        } else if let queue {
            apply(setting, to: queue, history)
        }
    }

    private func apply(_ setting: Setting, to queue: OperationQueue, _ history: History) {
        let span = history.span {
            switch setting {
            case .suspended(let isSuspended): queue.isSuspended = isSuspended
            case .limit(let limit): queue.maxConcurrentOperationCount = limit
            }
        }
        log.withLock { $0.append(Call(setting: setting, span: span)) }
    }

    func cancelAll(_ history: History) {
        guard let queue else { return }
        let span = history.span { queue.cancelAllOperations() }
        cancels.withLock { $0.append(span) }
    }

    /// Lets the queue run, and drops it, unless that was done already.
    func drop(_ history: History) {
        guard plan.mayBeDropped else { return }
        let dropped = held.withLock { queue -> OperationQueue? in
            guard let dropped = queue.take() else { return nil }
            apply(.suspended(false), to: dropped, history)
            apply(.limit(plan.limit), to: dropped, history)
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// The end. The queue must be freed.
    func release() {
        observations.withLock { $0 = [] }
        let released = held.withLock { $0.take() }
        withExtendedLifetime(released) {}
    }

    private final class WeakQueue: @unchecked Sendable {
        private(set) weak var queue: OperationQueue?

        init(_ queue: OperationQueue) { self.queue = queue }
    }
}

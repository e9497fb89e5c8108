import Dispatch
import OpBenchModel

extension WorkloadPlan {
    /// Whether a queue of the round's own is asked of Dispatch: the global one can neither be suspended nor take barriers.
    var needsOwnQueue: Bool { startsSuspended || storm != nil || barriers != nil }
}

/// Dispatch's counterpart of an operation queue with a limit: the global queue, a serial queue, or pumps.
///
/// On a concurrent queue `drain` waits for a count, which callers keep: `willSubmit` before operations are submitted,
/// `didEnd` as the last act of each. To the other kinds both are nothing.
final class DispatchLane: Sendable {
    private enum Kind {
        case concurrent, serial
        case pumps(DispatchPumps)
    }

    let queue: DispatchQueue
    let limit: Int?
    /// Whether it can be suspended, and divided by barriers if it is concurrent.
    private let canBeHeld: Bool
    private let kind: Kind
    private let isCounted: Bool
    private let running = EndCounter()

    /// A lane for all operations of a plan.
    convenience init(for plan: WorkloadPlan) { self.init(for: plan, limit: plan.limit) }

    init(for plan: WorkloadPlan, limit: Int?) {
        self.limit = limit
        canBeHeld = limit != nil || plan.needsOwnQueue
        switch limit {
        case nil:
            queue = canBeHeld ? DispatchQueue(label: "opbench.concurrent", attributes: .concurrent) : .global()
            kind = .concurrent
        case 1:
            queue = DispatchQueue(label: "opbench.serial")
            kind = .serial
        case let limit?:
            queue = .global()
            kind = .pumps(DispatchPumps(count: limit, on: queue))
        }
        isCounted = limit == nil
        if plan.startsSuspended { suspend() }
    }

    deinit { running.deallocate() }

    /// Whether it can serve another plan as well.
    func suits(_ plan: WorkloadPlan) -> Bool { limit == plan.limit && (canBeHeld || !plan.needsOwnQueue) }

    @inline(__always)
    func willSubmit(_ count: Int) { if isCounted { running.begin(count) } }

    @inline(__always)
    func didEnd() { if isCounted { running.end() } }

    @inline(__always)
    func async(_ work: @escaping @Sendable () -> Void) {
        if case .pumps(let pumps) = kind { pumps.async(work) } else { queue.async(execute: work) }
    }

    /// The same for a work item, counted by a group, except on pumps, which count it themselves.
    func async(_ item: DispatchWorkItem, in group: DispatchGroup) {
        guard case .pumps(let pumps) = kind else { return queue.async(group: group, execute: item) }
        nonisolated(unsafe) let item = item
        pumps.async { item.perform() }
    }

    /// The same in a group.
    func async(in group: DispatchGroup, _ work: @escaping @Sendable () -> Void) {
        guard case .pumps(let pumps) = kind else { return queue.async(group: group, execute: work) }
        group.enter()
        pumps.async {
            work()
            group.leave()
        }
    }

    /// Runs the work in a group of its own, whose `notify` is Dispatch's completion block.
    func async(_ work: @escaping @Sendable () -> Void, thenNotify notification: @escaping @Sendable () -> Void) {
        let own = DispatchGroup()
        async(in: own, work)
        own.notify(queue: queue, execute: notification)
    }

    /// Waits for all that was submitted.
    func drain() {
        switch kind {
        case .concurrent: running.wait()
        case .serial: queue.sync {}
        case .pumps(let pumps): pumps.drain()
        }
    }

    func suspend() {
        if case .pumps(let pumps) = kind { pumps.hold() } else { queue.suspend() }
    }

    func resume() {
        if case .pumps(let pumps) = kind { pumps.letGo() } else { queue.resume() }
    }
}

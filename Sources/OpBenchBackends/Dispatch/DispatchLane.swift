import Dispatch
import OpBenchModel

/// Dispatch's counterpart of an operation queue with a limit: the global queue, a serial queue, or pumps.
///
/// A concurrent queue cannot wait for the submitted work: its users count the ends.
final class DispatchLane: RoundQueue {
    static let isTrusted = true
    static let hasCompletionBlocks = true

    private enum Kind {
        case concurrent, serial
        case pumps(DispatchPumps)
    }

    let queue: DispatchQueue
    private let kind: Kind
    let needsCount: Bool

    /// A lane for all operations of a plan.
    convenience init(for plan: WorkloadPlan) { self.init(for: plan, limit: plan.limit) }

    init(for plan: WorkloadPlan, limit: Int?) {
        switch limit {
        case nil:
            // The global one can neither be suspended nor take barriers.
            queue =
                plan.startsSuspended || plan.storm != nil || plan.barriers != nil
                ? DispatchQueue(label: "opbench.concurrent", attributes: .concurrent) : .global()
            kind = .concurrent
        case 1:
            queue = DispatchQueue(label: "opbench.serial")
            kind = .serial
        case let limit?:
            queue = .global()
            kind = .pumps(DispatchPumps(count: limit, on: queue))
        }
        needsCount = limit == nil
        if plan.startsSuspended { suspend() }
    }

    @inline(__always)
    func submit(_ work: @escaping Work) {
        if case .pumps(let pumps) = kind { pumps.async(work) } else { queue.async(execute: work) }
    }

    /// The same in a group.
    func async(in group: DispatchGroup, _ work: @escaping Work) {
        guard case .pumps(let pumps) = kind else { return queue.async(group: group, execute: work) }
        group.enter()
        pumps.async {
            work()
            group.leave()
        }
    }

    /// Runs the work in a group of its own, whose `notify` is Dispatch's completion block.
    func submit(_ work: @escaping Work, thenNotify notification: @escaping Work) {
        let own = DispatchGroup()
        async(in: own, work)
        own.notify(queue: queue, execute: notification)
    }

    /// On a serial queue everything is a barrier.
    func submitBarrier(_ work: @escaping Work) { queue.async(flags: .barrier, execute: work) }

    func drain(isCounted: Bool) {
        switch kind {
        case .concurrent: break
        case .serial: if !isCounted { queue.sync {} }
        // The body that submitted the last operation may still be in its call, on the pumps of another lane.
        case .pumps(let pumps): pumps.drain()
        }
    }

    func suspend() {
        if case .pumps(let pumps) = kind { pumps.hold() } else { queue.suspend() }
    }

    func resume() {
        if case .pumps(let pumps) = kind { pumps.resume() } else { queue.resume() }
    }
}

import Dispatch

/// Dispatch's counterpart of an operation queue with a limit: a concurrent queue, a serial queue, or pumps.
final class DispatchLane: Sendable {
    private enum Kind {
        case concurrent, serial
        case pumps(DispatchPumps)
    }

    let queue: DispatchQueue
    let limit: Int?
    private let kind: Kind
    private let group = DispatchGroup()

    init(limit: Int?, isSuspended: Bool) {
        self.limit = limit
        switch limit {
        case nil:
            queue = DispatchQueue(label: "opbench.concurrent", attributes: .concurrent)
            kind = .concurrent
        case 1:
            queue = DispatchQueue(label: "opbench.serial")
            kind = .serial
        case let limit?:
            queue = DispatchQueue(label: "opbench.pumps", attributes: .concurrent)
            kind = .pumps(DispatchPumps(count: limit, on: queue, group: group))
        }
        if isSuspended { suspend() }
    }

    @inline(__always)
    func async(_ work: @escaping @Sendable () -> Void) {
        switch kind {
        case .concurrent: queue.async(group: group, execute: work)
        case .serial: queue.async(execute: work)
        case .pumps(let pumps): pumps.async(work)
        }
    }

    /// The same without being counted, for callers that know when all is done: `drain` does not wait for it.
    @inline(__always)
    func asyncUncounted(_ work: @escaping @Sendable () -> Void) {
        if case .pumps(let pumps) = kind { pumps.async(work) } else { queue.async(execute: work) }
    }

    /// The same for a work item.
    func async(_ item: DispatchWorkItem) {
        switch kind {
        case .concurrent: queue.async(group: group, execute: item)
        case .serial: queue.async(execute: item)
        case .pumps(let pumps):
            nonisolated(unsafe) let item = item
            pumps.async { item.perform() }
        }
    }

    /// The same, counted by a group of the caller's.
    func async(in batch: DispatchGroup, _ work: @escaping @Sendable () -> Void) {
        guard case .pumps(let pumps) = kind else { return queue.async(group: batch, execute: work) }
        batch.enter()
        pumps.async {
            work()
            batch.leave()
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
        case .concurrent: group.wait()
        case .serial: queue.sync {}
        case .pumps(let pumps): pumps.drain()
        }
    }

    func suspend() {
        if case .pumps(let pumps) = kind { pumps.hold() }
        queue.suspend()
    }

    func resume() {
        queue.resume()
        if case .pumps(let pumps) = kind { pumps.letGo() }
    }
}

import Dispatch

/// The completion blocks that a stamped sample times. A queue's own wait may return before they have run.
struct Notifications: Sendable {
    private let pending = DispatchGroup()

    /// A block that stamps `notified`; to be called once.
    func block(_ operation: Int, _ body: OperationBody) -> @Sendable () -> Void {
        pending.enter()
        return { [pending] in
            body.didNotify(operation)
            pending.leave()
        }
    }

    /// One block for all operations of a group.
    func block(_ group: Range<Int>, _ body: OperationBody) -> @Sendable () -> Void {
        pending.enter()
        return { [pending] in
            for operation in group { body.didNotify(operation) }
            pending.leave()
        }
    }

    func wait() { pending.wait() }
}

extension DispatchLane {
    /// Runs the work in a group of its own, whose `notify` is Dispatch's completion block.
    func async(_ work: @escaping @Sendable () -> Void, thenNotify notification: @escaping @Sendable () -> Void) {
        let own = DispatchGroup()
        async(in: own, work)
        own.notify(queue: queue, execute: notification)
    }
}

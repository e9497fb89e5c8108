/// The operations as a list, and cancelling them.
extension QueueCore {
    /// The unfinished operations in the order of adding.
    func snapshot() -> [Operation] { unfinishedOperations(withBarriers: false) }

    private func unfinishedOperations(withBarriers: Bool) -> [Operation] {
        // Starts what may start: a closure that was taken back out of a runner's hands needs another one.
        let all = change { state in
            if entrance.addedCount != endedClosures.load(ordering: .relaxed) {
                countAsObjects(state.makeObjects(of: self))
            }
            return state.snapshot { withBarriers || !$0.isBarrier }
        }
        return Self.inOrder(all)
    }

    /// Cancels all that waits and need not be called for that. What else there is to be cancelled: what runs, and
    /// barriers too.
    func cancelWaiting() -> [Operation] {
        // Who observes the queue is told of every operation.
        if hasObservers { return unfinishedOperations(withBarriers: true) }
        let all = change { state in
            countAsObjects(state.makeObjectsOfTaken(of: self))
            state.cancelWaiting()
            let cancel = MethodOverride.cancel
            return state.snapshot { !$0.state.load().isCancelled || cancel.isPresent(in: $0) }
        }
        return Self.inOrder(all)
    }

    private static func inOrder(_ all: [(sequence: UInt64, operation: Operation)]) -> [Operation] {
        all.sorted { $0.sequence < $1.sequence }.map(\.operation)
    }
}

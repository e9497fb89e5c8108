/// The operations as a list, and cancelling them.
extension QueueCore {
    /// The unfinished operations in the order of adding.
    func snapshot() -> [Operation] { unfinishedOperations(withBarriers: false) }

    private func unfinishedOperations(withBarriers: Bool) -> [Operation] {
        lock.lock()
        takeIn()
        let inHands = operationsInHands()
        if entrance.addedCount != endedClosures.load(ordering: .relaxed) {
            countAsObjects(state.makeObjects(of: self))
        }
        let all = inHands + state.snapshot()
        settleAndUnlock()
        return Self.inOrder(all.filter { withBarriers || !$0.operation.isBarrier })
    }

    /// The unfinished operations that runners have in hand, closures as objects. Under the lock.
    private func operationsInHands() -> [(sequence: UInt64, operation: Operation)] {
        var all: [(sequence: UInt64, operation: Operation)] = []
        runners.visitAll { runner in
            if let operation = operation(of: runner), !operation.state.load().isFinished {
                all.append((operation.sequence, operation))
            }
        }
        return all
    }

    /// Cancels all that waits and need not be called for that. What else there is to be cancelled: what runs, and
    /// barriers too.
    func cancelWaiting() -> [Operation] {
        // Who observes the queue, or traces, is told of every operation.
        if hasObservers || TraceMarks.operations { return unfinishedOperations(withBarriers: true) }
        lock.lock()
        let inHands = operationsInHands()
        var all = state.cancelWaiting()
        // Behind those, what nobody has taken in yet, mostly in one step with its admission.
        var areSomeLeft = false
        inbox.takeAll {
            if state.admitCancelled($0) { return }
            state.admit($0)
            areSomeLeft = true
        }
        state.listFilledBatch()
        if areSomeLeft { all = state.cancelWaiting() }
        settleAndUnlock()
        return Self.inOrder(inHands + all)
    }

    private static func inOrder(_ all: [(sequence: UInt64, operation: Operation)]) -> [Operation] {
        all.sorted { $0.sequence < $1.sequence }.map(\.operation)
    }
}

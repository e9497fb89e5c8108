/// Lists the operations, and cancels them.
extension QueueCore {
    /// The unfinished operations in the order of adding.
    func snapshot() -> [Operation] { unfinishedOperations(withBarriers: false) }

    private func unfinishedOperations(withBarriers: Bool) -> [Operation] {
        lock.lock()
        takeIn()
        let inHands = operationsInHands()
        state.makeObjects(of: self)
        let all = inHands + state.snapshot()
        settleAndUnlock()
        return Self.inOrder(all.filter { withBarriers || !$0.operation.isBarrier })
    }

    /// The unfinished operations that runners have in hand. Closures get objects. Under the lock.
    private func operationsInHands() -> [(sequence: UInt64, operation: Operation)] {
        var all: [(sequence: UInt64, operation: Operation)] = []
        runners.visitAll { runner in
            if let operation = runner.operationSeen(of: self), !operation.state.load().isFinished {
                all.append((operation.sequence, operation))
            }
        }
        return all
    }

    /// Guests that were chosen and are not finished, at most `count`.
    func startedGuests(atMost count: Int) -> [Operation] {
        lock.withLock {
            var found: [Operation] = []
            state.guests.visitOperations { if found.count < count { found.append($0) } }
            return found
        }
    }

    /// Cancels everything that waits and can be cancelled without a call of its methods. Returns what else is to be
    /// cancelled: what runs, and barriers too.
    func cancelWaiting() -> [Operation] {
        // Observers of the queue, and trace receivers, are notified of every operation. Closures get objects for that.
        if hasObservers || TraceMarks.adding { return unfinishedOperations(withBarriers: true) }
        lock.lock()
        let inHands = operationsInHands()
        var all = state.cancelWaiting()
        // Then what is still in the inbox, mostly in one step with its admission.
        var areSomeLeft = false
        emptyInbox {
            if state.admitCancelled($0) { return }
            state.admit($0)
            areSomeLeft = true
        }
        if areSomeLeft { all = state.cancelWaiting() }
        settleAndUnlock()
        return Self.inOrder(inHands + all)
    }

    private static func inOrder(_ all: [(sequence: UInt64, operation: Operation)]) -> [Operation] {
        all.sorted { $0.sequence < $1.sequence }.map(\.operation)
    }
}

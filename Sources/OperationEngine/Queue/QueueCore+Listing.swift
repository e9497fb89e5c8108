/// Lists the operations, and cancels them.
extension QueueCore {
    /// The unfinished operations in the order of adding. Closures get objects.
    func unfinishedOperations(withBarriers: Bool = false) -> [Operation] {
        lock.lock()
        admitAll()
        var all = operationsInHands()
        state.makeObjects(of: self)
        state.visit { item, _ in
            let operation = item.operation.takeUnretainedValue()
            if !operation.state.load().isFinished { all.append(operation) }
            return true
        }
        settleAndUnlock()
        return Self.inOrder(all.filter { withBarriers || !$0.isBarrier })
    }

    /// The unfinished operations that runners have in hand. Closures get objects. Under the lock.
    private func operationsInHands() -> [Operation] {
        var all: [Operation] = []
        runners.visit { runner in
            if let operation = runner.operationSeen(of: self), !operation.state.load().isFinished {
                all.append(operation)
            }
        }
        return all
    }

    /// Guests that were chosen and are not finished, at most `count`.
    func startedGuests(atMost count: Int) -> [Operation] {
        lock.withLock {
            var found: [Operation] = []
            state.guests.visit {
                if found.count < count { found.append($0.operation.takeUnretainedValue()) }
                return found.count < count
            }
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

    private static func inOrder(_ all: [Operation]) -> [Operation] { all.sorted { $0.sequence < $1.sequence } }
}

import Synchronization

/// Waiting for the end of all operations.
extension QueueCore {
    /// Sleeps until the queue is empty for an instant, or the deadline passed; true if it was empty.
    ///
    /// Only the count says so. A draining may be the echo of one that came before this wait: the worker that emptied the
    /// queue looks for waiters later, and the queue may have got new operations in between.
    func waitUntilDrained(_ deadline: Deadline) -> Bool {
        if BriefSpin.forDrained.wait(until: { isEmpty }) { return true }
        // The waiter announces itself and then looks at the count; who lowers the count then looks for waiters.
        drainWaiters.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { drainWaiters.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        while true {
            // Read before the count: a draining after that look makes the sleep return at once.
            let draining = drainings.load(ordering: .sequentiallyConsistent)
            if unfinished.load(ordering: .sequentiallyConsistent) == 0 { return true }
            let remaining = deadline.remainingNanoseconds
            if remaining == 0 { return false }
            Futex.wait(drainings, expected: draining, timeoutNanoseconds: remaining)
        }
    }

    /// The queue was empty, with waiters there.
    @inline(never)
    func wakeDrainWaiters() {
        drainings.wrappingAdd(1, ordering: .sequentiallyConsistent)
        Futex.wake(drainings, count: .max)
        resumeDrainAwaiters()
    }

    /// Suspends the calling task until the queue is empty for an instant. False if the task is cancelled before.
    ///
    /// As in `waitUntilDrained`, the awaiter is announced before it looks at the count, and who lowers the count then
    /// looks for waiters.
    nonisolated(nonsending) func drained() async -> Bool {
        if isEmpty { return true }
        return await Awaiter.suspend { awaiter, continuation in
            lock.withLock {
                drainWaiters.wrappingAdd(1, ordering: .sequentiallyConsistent)
                let isDrained = isEmpty
                // Whoever looks for waiters from here on finds this one behind the lock.
                if !isDrained, awaiter.enter(&drainAwaiters, continuation) { return nil }
                drainWaiters.wrappingSubtract(1, ordering: .sequentiallyConsistent)
                return isDrained
            }
        } withdraw: { awaiter in
            self.lock.withLock {
                let continuation = awaiter.cancel(&self.drainAwaiters)
                if continuation != nil { self.drainWaiters.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
                return continuation
            }
        }
    }

    /// If the queue is no longer empty, this draining may have been before their time: they wait for the next, whose
    /// thread will see them too.
    private func resumeDrainAwaiters() {
        let awaiters = lock.withLock {
            guard isEmpty else { return [UnsafeContinuation<Bool, Never>]() }
            let awaiters = drainAwaiters.takeAll()
            drainWaiters.wrappingSubtract(awaiters.count, ordering: .sequentiallyConsistent)
            return awaiters
        }
        for awaiter in awaiters { awaiter.resume(returning: true) }
    }
}

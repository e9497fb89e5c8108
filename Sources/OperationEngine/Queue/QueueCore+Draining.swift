import Synchronization

/// Waits until the queue is empty.
extension QueueCore {
    /// Sleeps until the queue is empty for an instant, or until the deadline has passed. Returns true if it was empty.
    ///
    /// Only the count decides. `drainings` may rise because of a moment before this wait: the worker that emptied the
    /// queue looks for waiters later, and the queue may have got new operations in between.
    func waitUntilDrained(_ deadline: Deadline) -> Bool {
        if BriefSpin.forDrained.wait(until: { isEmpty }) { return true }
        // The waiter announces itself and then reads the count. A thread that lowers the count reads the number of
        // waiters after that. So one of the two sees the other.
        drainWaiters.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { drainWaiters.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        while true {
            // Read before the count: if the queue becomes empty after that, the sleep returns at once.
            let draining = drainings.load(ordering: .sequentiallyConsistent)
            if unfinished.load(ordering: .sequentiallyConsistent) == 0 { return true }
            let remaining = deadline.remainingNanoseconds
            if remaining == 0 { return false }
            Futex.wait(drainings, expected: draining, timeoutNanoseconds: remaining)
        }
    }

    /// The queue was empty while threads or tasks waited.
    @inline(never)
    func wakeDrainWaiters() {
        drainings.wrappingAdd(1, ordering: .sequentiallyConsistent)
        Futex.wake(drainings, count: .max)
        resumeDrainAwaiters()
    }

    /// Suspends the calling task until the queue is empty for an instant. Returns false if the task is cancelled first.
    ///
    /// As in `waitUntilDrained`, the awaiter announces itself before it reads the count, and a thread that lowers the
    /// count reads the number of waiters after that.
    nonisolated(nonsending) func drained() async -> Bool {
        if isEmpty { return true }
        return await Awaiter.suspend { awaiter, continuation in
            lock.withLock {
                drainWaiters.wrappingAdd(1, ordering: .sequentiallyConsistent)
                let isDrained = isEmpty
                // A thread that looks for waiters from here on takes the lock and finds this one.
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

    /// Resumes the awaiting tasks if the queue is still empty. If it is not, it may have been empty only before they
    /// came. Then they wait for the next time, whose thread will see them too.
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

extension Operation {
    /// As `waitUntilFinished()`, but gives up after `timeout`. Returns whether the operation is finished.
    @discardableResult
    public final func waitUntilFinished(timeout: Duration) -> Bool { wait(Deadline(after: timeout)) }

    func wait(_ deadline: Deadline) -> Bool {
        if state.load().isFinished { return true }
        if ForkedChild.isRefused() { return false }
        if OperationThread.about(toStart: self) != nil {
            Misuse.waitForSelf.report()
            return false
        }
        return Runner.waiting(for: deadline.isNever ? .operation(.passUnretained(self)) : nil) {
            if !deadline.isNever { return state.waitUntilFinished(deadline) }
            EndlessWait.wait {
                state.waitUntilFinished($0)
            } reason: {
                EndlessWait.reason(forOperation: self)
            }
            return true
        }
    }

    /// Starts the operation by hand if that is possible now (contract B12): on the calling thread, or on a thread of
    /// the pool if it is asynchronous.
    ///
    /// - Returns: false, with no change, if it is not ready. True if it was started, or if it was cancelled and is
    ///   finished now.
    @discardableResult
    public final func performIfReady() -> Bool {
        if isCancelled {
            start()
            return true
        }
        guard isReady else { return false }
        if isAsynchronous {
            Self.callOnPool { self.start() }
        } else {
            start()
        }
        return true
    }

    /// Calls a block on a thread of the pool.
    static func callOnPool(_ block: @escaping @Sendable () -> Void) { WorkerPool.of(.normal).submit(.block(block)) }
}

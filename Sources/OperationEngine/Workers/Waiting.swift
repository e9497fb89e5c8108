import CLinux

extension Operation {
    /// As `waitUntilFinished()`, but gives up after `timeout`. Returns whether the operation is finished.
    @available(*, noasync, message: "Use 'await finished()' instead")
    @discardableResult
    public final func waitUntilFinished(timeout: Duration) -> Bool { wait(Deadline(after: timeout)) }

    func wait(_ deadline: Deadline) -> Bool {
        if state.load().isFinished || isFinishedUnannounced() { return true }
        if ForkedChild.isRefused() { return false }
        if Runner.about(toStart: self) != nil {
            Misuse.waitForSelf.report()
            return false
        }
        return Runner.waiting(for: deadline.isNever ? .operation(.passUnretained(self)) : nil) {
            func sleep(_ deadline: Deadline) -> Bool { state.waitUntilFinished(deadline) || isFinishedUnannounced() }
            if !deadline.isNever { return sleep(deadline) }
            EndlessWait.wait(sleep) {
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
            WorkerPool.of(.normal).submit(.block { self.start() })
        } else {
            start()
        }
        return true
    }

    /// Calls the completion block on a thread of the pool. The operation lives until the block has returned (contract
    /// Q9), unless it announces its end in its own deinit.
    func callCompletionBlock(_ block: @escaping @Sendable () -> Void) {
        let isDying = swift_isDeallocating(Unmanaged.passUnretained(self).toOpaque())
        WorkerPool.of(.normal).submit(isDying ? .block(block) : .completion(self, block))
    }
}

extension OperationQueue {
    func wait(_ deadline: Deadline) -> Bool {
        if core.isEmpty { return true }
        if ForkedChild.isRefused() { return false }
        return Runner.waiting(for: deadline.isNever ? .queue(.passUnretained(core)) : nil) {
            if !deadline.isNever { return core.waitUntilDrained(deadline) }
            EndlessWait.wait {
                core.waitUntilDrained($0)
            } reason: {
                EndlessWait.reason(forQueue: core)
            }
            return true
        }
    }
}

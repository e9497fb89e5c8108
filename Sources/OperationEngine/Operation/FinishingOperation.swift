/// The end of an operation: how to await it, failures, and their effect on dependents (contract O8, X2).
///
/// It is a protocol so that subclasses may declare members with the same names. Only `Operation` and its subclasses
/// conform. Every member may be used from any thread.
public protocol FinishingOperation: Operation {}

extension Operation: FinishingOperation {}

extension FinishingOperation {
    /// Suspends the calling task until the operation is finished. No thread blocks (contract O8).
    ///
    /// Cancelling the awaiting task ends the wait, not the operation. An operation that awaits itself, or an operation
    /// that depends on it, waits forever.
    ///
    /// - Returns: true if the operation is finished, false if the awaiting task was cancelled before.
    @discardableResult
    public nonisolated(nonsending) func finished() async -> Bool { await awaitFinish() }

    /// Records, before the finish, that the operation failed. This neither ends nor cancels it (contract X2).
    ///
    /// - Returns: false, with no effect, if it had failed before or is finished.
    @discardableResult
    public func fail(with error: any Error) -> Bool { recordFailure(error) }

    /// The error with which the operation failed; nil if it has not failed. A skipped or cancelled operation has not
    /// failed.
    public var failure: (any Error)? {
        state.load().has(OperationState.Word.hasFailed) ? withDetails { $0?.failure } : nil
    }

    /// How the operation ended; nil before the end.
    public var ending: OperationEnding? {
        let word = state.load()
        guard word.isFinished else { return nil }
        if let failure { return .failed(failure) }
        if let reason = skipReason { return .skipped(reason) }
        return word.isCancelled ? .cancelled : .succeeded
    }

    /// The fate of this operation when a dependency does not succeed. The engine's own `start` reads it. The default
    /// is `.run` (contract E8, X2).
    public var dependencyFailurePolicy: DependencyFailurePolicy {
        get { state.load().policy }
        set { state.setPolicy(newValue) }
    }

    /// Whether `dependencyFailurePolicy` treats cancelled dependencies as not successful. The default is false.
    public var treatsCancelledDependenciesAsFailed: Bool {
        get { state.load().has(OperationState.Word.countsCancelled) }
        set { state.setCountsCancelled(newValue) }
    }
}

// MARK: - Awaiting

extension Operation {
    nonisolated(nonsending) fileprivate func awaitFinish() async -> Bool {
        if state.load().isFinished || isFinishedUnannounced() { return true }
        return await Awaiter.suspend { awaiter, continuation in
            withNewDetails { own in
                // Announced and listed while the lock is held once. A finishing thread that sees the flag takes the
                // lock and finds the awaiter. If it finished before, the announcement fails.
                guard state.announceAwaiters() else { return true }
                return awaiter.enter(&own.awaiters, continuation) ? nil : false
            }
        } withdraw: { awaiter in
            self.withNewDetails { awaiter.cancel(&$0.awaiters) }
        }
    }

    /// Called once, by the finishing thread.
    @inline(never)
    func resumeAwaiters() {
        let awaiters = lock.withLock { details?.awaiters.takeAll() ?? [] }
        for awaiter in awaiters { awaiter.resume(returning: true) }
    }
}

// MARK: - Failing

extension Operation {
    fileprivate func recordFailure(_ error: any Error) -> Bool {
        // The error is stored before the flag. A thread that sees the flag takes `lock` and finds the error.
        withNewDetails { own in
            let former = own.failure
            own.failure = error
            if state.setHasFailed() { return true }
            own.failure = former
            return false
        }
    }

    /// Why the operation was skipped, if it was.
    var skipReason: DependencyFailure? {
        guard state.load().has(OperationState.Word.isSkipped) else { return nil }
        return withDetails { $0?.failure as? DependencyFailure }
    }
}

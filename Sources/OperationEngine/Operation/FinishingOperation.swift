/// What every operation offers about its end: awaiting it, failures, and what they mean to dependents (contract O8, X2).
///
/// A protocol, so that subclasses that declare members of these names are in nobody's way. Only `Operation` and its
/// subclasses conform. Every member may be used from any thread.
public protocol FinishingOperation: Operation {}

extension Operation: FinishingOperation {}

extension FinishingOperation {
    /// Suspends the calling task until the operation is finished; no thread blocks (contract O8).
    ///
    /// Only watches: cancelling the awaiting task ends the wait and not the operation. An operation that awaits itself,
    /// or one that depends on it, waits for ever.
    ///
    /// - Returns: true if the operation is finished; false if the awaiting task was cancelled before.
    @discardableResult
    public nonisolated(nonsending) func finished() async -> Bool { await awaitFinish() }

    /// Says, before the finish, that the operation failed. It is not ended by that, nor cancelled (contract X2).
    ///
    /// - Returns: false, with no effect, if it had failed before or is finished.
    @discardableResult
    public func fail(with error: any Error) -> Bool { recordFailure(error) }

    /// What the operation failed with: nil if it did not fail, or not yet. A skipped or cancelled one did not fail.
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

    /// What becomes of this operation when a dependency does not succeed. Looked at by the engine's own `start`;
    /// `.run` by default (contract E8, X2).
    public var dependencyFailurePolicy: DependencyFailurePolicy {
        get { state.load().policy }
        set { state.setPolicy(newValue) }
    }

    /// Whether `dependencyFailurePolicy` counts cancelled dependencies among those that did not succeed. False by
    /// default.
    public var treatsCancelledDependenciesAsFailed: Bool {
        get { state.load().has(OperationState.Word.countsCancelled) }
        set { state.setCountsCancelled(newValue) }
    }
}

// MARK: - Awaiting

extension Operation {
    nonisolated(nonsending) fileprivate func awaitFinish() async -> Bool {
        if state.load().isFinished { return true }
        return await Awaiter.suspend { awaiter, continuation in
            withNewDetails { own in
                // Announced and listed in one hold of the lock: a finishing thread that sees the flag takes the lock
                // and finds the awaiter; one that came before makes the announcement fail.
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
        // The error is in place before the flag; who sees the flag takes `lock` and finds the error.
        withNewDetails { own in
            let former = own.failure
            own.failure = error
            if state.setHasFailed() { return true }
            own.failure = former
            return false
        }
    }

    /// Why the operation was left out, if it was.
    var skipReason: DependencyFailure? {
        guard state.load().has(OperationState.Word.isSkipped) else { return nil }
        return withDetails { $0?.failure as? DependencyFailure }
    }
}

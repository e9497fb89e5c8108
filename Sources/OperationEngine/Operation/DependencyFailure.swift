/// What becomes of an operation when one of its dependencies did not succeed: that is, failed or was skipped, or, where
/// the operation asks for it, was cancelled (contract X2).
public enum DependencyFailurePolicy: UInt8, Sendable, Hashable, CaseIterable {
    /// The operation runs, and decides for itself.
    case run
    /// It is finished without `main`. It did not fail, and is not cancelled, but its ending is `skipped`, which
    /// dependents with a policy of their own take like a failure.
    case skip
    /// It is finished without `main`, and has failed, with a `DependencyFailure`.
    case fail
}

/// How an operation ended.
public enum OperationEnding: Sendable {
    /// The work was done, and nobody called it failed or cancelled.
    case succeeded
    /// `fail(with:)` was called, the body threw, or a dependency did not succeed and the policy is `fail`.
    case failed(any Error)
    /// A dependency did not succeed, and the policy is `skip`.
    case skipped(DependencyFailure)
    /// `cancel` was called before the end, whether or not the work was done.
    case cancelled
}

/// Why an operation was not run: one of its dependencies did not succeed.
public struct DependencyFailure: Error, Sendable, CustomStringConvertible {
    /// What the first operation of the chain failed with; a `CancellationError` if it was cancelled.
    public let cause: any Error
    // Which one it was, in parts: a chain of a million writes no texts that nobody reads, and keeps nothing alive.
    private let type: Operation.Type
    private let address: UInt
    private let name: String?

    init(of dependency: Operation, cause: any Error) {
        self.cause = cause
        type = Swift.type(of: dependency)
        address = UInt(bitPattern: Unmanaged.passUnretained(dependency).toOpaque())
        name = dependency.name
    }

    /// The dependency: the first, in the order added, that did not succeed. Its class, address and name.
    public var dependency: String {
        "<\(type) 0x\(String(address, radix: 16))\(name.map { " '\($0)'" } ?? "")>"
    }

    /// One line for people.
    public var description: String { "the dependency \(dependency) did not succeed: \(cause)" }
}

extension Operation {
    /// The rest of `begin` for an operation that runs as a task or has a policy for failed dependencies. Called by the
    /// thread that starts it, which knows that it is ready and not cancelled.
    @inline(never)
    func beginWithCare(
        by starter: OperationState.Starter, ownReadiness: Bool?, from phase: OperationState.Phase
    ) -> OperationState.Start {
        let word = state.load()
        if word.policy != .run,
            let reason = dependencyFailure(countingCancelled: word.has(OperationState.Word.countsCancelled))
        {
            // The reason is in place before the flag, which is set by the finishing step: another thread that starts
            // the operation too, or fails it, leaves it without effect. An error of the operation's own stays.
            withNewDetails { own in
                if !state.load().has(OperationState.Word.hasFailed) { own.failure = reason }
            }
            return .leaveOut(
                flag: word.policy == .fail ? OperationState.Word.hasFailed : OperationState.Word.isSkipped, from: phase)
        }
        let verdict = state.begin(by: starter, ownReadiness: ownReadiness, isCareTaken: true)
        return verdict.isRun && word.has(OperationState.Word.runsAsTask) ? .runAsTask : verdict
    }

    /// What stands against running this operation, whose dependencies are finished: the first, in the order added, of
    /// those that did not succeed.
    private func dependencyFailure(countingCancelled: Bool) -> DependencyFailure? {
        var found: Operation?
        lock.lock()
        var edge = dependencyEdges.first
        while let current = edge {
            // Latest first: the last one found was added first.
            current.pointee.dependency._withUnsafeGuaranteedRef {
                if $0.state.load().hasNotSucceeded(countingCancelled: countingCancelled) { found = $0 }
            }
            edge = current.pointee.nextOfDependent
        }
        lock.unlock()
        return found.map { DependencyFailure(of: $0, cause: $0.causeForDependents) }
    }

    /// What dependents of this operation, which has not succeeded, say is the cause. Never a `DependencyFailure`: a
    /// chain of a million of them would be released by recursion.
    private var causeForDependents: any Error {
        let error: (any Error)? = failure ?? skipReason
        return (error as? DependencyFailure)?.cause ?? error ?? CancellationError()
    }
}

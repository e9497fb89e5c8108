/// How an operation ended.
public enum OperationEnding: Sendable {
    /// The work was done. The operation neither failed nor was cancelled.
    case succeeded
    /// `fail(with:)` was called, the body threw, or a dependency did not succeed and the policy is `fail`.
    case failed(any Error)
    /// A dependency did not succeed, and the policy is `skip`.
    case skipped(DependencyFailure)
    /// `cancel` was called before the end. The work may have been done or not.
    case cancelled
}

/// Why an operation was not run: one of its dependencies did not succeed.
public struct DependencyFailure: Error, Sendable, CustomStringConvertible {
    /// The error of the first operation of the chain; a `CancellationError` if it was cancelled.
    public let cause: any Error
    // The dependency is stored in parts. So a chain of a million operations formats no text that is not read, and keeps
    // nothing alive.
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

    /// One line of text.
    public var description: String { "the dependency \(dependency) did not succeed: \(cause)" }
}

extension Operation {
    /// The rest of `begin` for an operation that runs as a task, or has a policy for failed dependencies. Called by the
    /// thread that starts the operation, which is ready and not cancelled.
    @inline(never)
    func beginWithCare(
        by starter: OperationState.Starter, ownReadiness: Bool?, from phase: OperationState.Phase
    ) -> OperationState.Start {
        let word = state.load()
        if word.policy != .run,
            let reason = dependencyFailure(countingCancelled: word.has(OperationState.Word.countsCancelled))
        {
            // The reason is stored before the flag, which the finishing step sets. If another thread starts the
            // operation too, or fails it, the reason has no effect. The operation's own error stays.
            withNewDetails { own in
                if !state.load().has(OperationState.Word.hasFailed) { own.failure = reason }
            }
            return .leaveOut(
                flag: word.policy == .fail ? OperationState.Word.hasFailed : OperationState.Word.isSkipped, from: phase)
        }
        let verdict = state.begin(by: starter, ownReadiness: ownReadiness, isCareTaken: true)
        return verdict.isRun && word.has(OperationState.Word.runsAsTask) ? .runAsTask : verdict
    }

    /// Why this operation is not run, if it is not. All its dependencies are finished. The reason is the first of them,
    /// in the order of adding, that did not succeed.
    private func dependencyFailure(countingCancelled: Bool) -> DependencyFailure? {
        var found: Operation?
        lock.lock()
        for dependency in dependencyEdges.all {
            // They come latest first, so the last one found was added first.
            dependency._withUnsafeGuaranteedRef {
                if $0.state.load().hasNotSucceeded(countingCancelled: countingCancelled) { found = $0 }
            }
        }
        lock.unlock()
        return found.map { DependencyFailure(of: $0, cause: $0.causeForDependents) }
    }

    /// The cause that dependents of this operation, which has not succeeded, report. Never a `DependencyFailure`: a
    /// chain of a million of those would be released by recursion.
    private var causeForDependents: any Error {
        let error: (any Error)? = failure ?? skipReason
        return (error as? DependencyFailure)?.cause ?? error ?? CancellationError()
    }
}

import class Foundation.NSRecursiveLock
import class Foundation.Progress
import protocol Foundation.ProgressReporting
import protocol OperationEngine.EndOfMainListener
import class OperationEngine.OperationQueue

extension OperationQueue: ProgressReporting {
    /// How many of the queue's operations have ended, to show to a user (contract P12).
    ///
    /// It counts nothing until its `totalUnitCount` is set to a positive number. From then on `completedUnitCount`
    /// rises by one for every operation that the queue runs, after its `main` has returned and before it is finished.
    /// So a thread that has waited for an operation finds it counted. An operation that was cancelled while it ran is
    /// counted. Not counted are an operation whose class overrides `start` without calling `super`, one that was
    /// cancelled before its start, and a barrier. The count may exceed the total, and cancelling the progress cancels
    /// no operation. All this is as in Foundation.
    ///
    /// It is always the same object for one queue, made on first use. Its two counts may be read and set from any
    /// thread. Its other members, and a parent that it is added to, are as safe as Foundation makes them: on Linux,
    /// read `fractionCompleted` while no operation runs. It cannot be observed on Linux, where Foundation's `Progress`
    /// has no key-value observing.
    public var progress: Progress {
        guard let progress = endOfMainListener(orMake: { QueueProgress(parent: nil) }) as? QueueProgress else {
            preconditionFailure("only this property sets the listener")
        }
        return progress
    }
}

/// A progress that several threads may increment. On Linux Foundation's own has no lock.
///
/// The lock is recursive: setting a count reads other counts and notifies parents, which may read this one.
private final class QueueProgress: Progress, EndOfMainListener, @unchecked Sendable {
    private let lock = NSRecursiveLock()

    func mainHasEnded() {
        lock.withLock {
            if super.totalUnitCount > 0 { super.completedUnitCount += 1 }
        }
    }

    override var totalUnitCount: Int64 {
        get { lock.withLock { super.totalUnitCount } }
        set { lock.withLock { super.totalUnitCount = newValue } }
    }

    override var completedUnitCount: Int64 {
        get { lock.withLock { super.completedUnitCount } }
        set { lock.withLock { super.completedUnitCount = newValue } }
    }
}

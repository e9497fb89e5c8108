import class Foundation.NSRecursiveLock
import class Foundation.Progress
import protocol Foundation.ProgressReporting
import protocol OperationEngine.EndOfMainListener
import class OperationEngine.OperationQueue

extension OperationQueue: ProgressReporting {
    /// How many of the queue's operations have ended, for those who show it to people (contract P12).
    ///
    /// It counts nothing until its `totalUnitCount` is set to a positive number. From then on `completedUnitCount` goes
    /// up by one for every operation that the queue runs, when its `main` has returned and before it is finished: who
    /// has waited for an operation finds it counted. One whose class overrides `start` without calling `super` is not
    /// counted, nor one that was cancelled before its start, nor a barrier; one that was cancelled while it ran is.
    /// The count may exceed the total, and cancelling the progress cancels no operation: all as in Foundation.
    ///
    /// Always the same object for one queue, made when first asked for. Its two counts may be read and set
    /// from any thread; all else of it, and a parent that it is added to, is as safe as Foundation makes it: on Linux
    /// read `fractionCompleted` when no operation is running. It cannot be observed on Linux, where Foundation's
    /// `Progress` has no key-value observing.
    public var progress: Progress {
        guard let progress = endOfMainListener(orMake: { QueueProgress(parent: nil) }) as? QueueProgress else {
            preconditionFailure("only this property sets the listener")
        }
        return progress
    }
}

/// A progress that several threads count up. On Linux Foundation's own has no lock.
///
/// The lock is recursive: setting a count reads others, and tells parents, which may read this one.
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

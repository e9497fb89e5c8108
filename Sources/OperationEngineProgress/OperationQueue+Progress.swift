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
    /// thread, to any numbers in any order. Its other members, a parent that it is added to, and children that are
    /// added to it are as safe as Foundation makes them: on Linux, read `fractionCompleted` while no operation runs. It
    /// cannot be observed on Linux, where Foundation's `Progress` has no key-value observing.
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
///
/// On Linux Foundation keeps a fraction for the children beside the progress's own counts. Each change of a positive
/// total divides that fraction by the new total, even if there are no children. So a total that returns to 0, as when a
/// group takes its cancelled operations out, makes a fraction over 0, and the next sum of the two traps. Also, the
/// denominator grows with each change, until the sum overflows if more is completed than the total. A change of a total
/// that is not positive leaves the fraction alone, so `totalUnitCount` passes through −1. A parent finds the progress
/// indeterminate there, and then counts what it finds, as with one step.
private final class QueueProgress: Progress, EndOfMainListener, @unchecked Sendable {
    private let lock = NSRecursiveLock()
    /// Whether the fraction for the children means something. Guarded by `lock`.
    private var hasHadChildren = false
    /// The lowest number whose negative is a number too; Foundation negates.
    private static let lowest = -Int64.max

    func mainHasEnded() {
        lock.withLock {
            let completed = super.completedUnitCount
            if super.totalUnitCount > 0, completed < .max { super.completedUnitCount = completed + 1 }
        }
    }

    override func addChild(_ child: Progress, withPendingUnitCount portion: Int64) {
        lock.withLock {
            hasHadChildren = true
            super.addChild(child, withPendingUnitCount: portion)
        }
    }

    override var totalUnitCount: Int64 {
        get { lock.withLock { super.totalUnitCount } }
        set {
            lock.withLock {
                let (old, new) = (super.totalUnitCount, max(newValue, Self.lowest))
                if old > 0, old != new, !hasHadChildren { super.totalUnitCount = -1 }
                super.totalUnitCount = new
            }
        }
    }

    override var completedUnitCount: Int64 {
        get { lock.withLock { super.completedUnitCount } }
        set { lock.withLock { super.completedUnitCount = max(newValue, Self.lowest) } }
    }
}

import CLinux

/// What an operation asks of the thread that runs it for a queue: `Runner`, of which operations know no more than this.
///
/// The fields belong to that thread.
class OperationThread {
    /// Left by a finishing operation, to be called once its slot is free (contract I7).
    @exclusivity(unchecked) final var completionBlock: (@Sendable () -> Void)?
    /// What a finishing operation has kept alive: released together with it.
    @exclusivity(unchecked) final var kept: [KeptAlive] = []

    /// The calling thread's, if it has one. Not retained: it outlives what its thread does.
    @inline(__always)
    static var ofThisThread: Unmanaged<OperationThread>? { clinux_current_runner().map { Unmanaged.fromOpaque($0) } }

    /// The calling thread's, if it has chosen the operation for its queue and is inside its `start`.
    @inline(__always)
    static func about(toStart candidate: Operation) -> Unmanaged<OperationThread>? {
        guard let thread = ofThisThread else { return nil }
        return thread._withUnsafeGuaranteedRef { $0.isRunning(candidate) } ? thread : nil
    }

    /// Lets go of what was kept alive during a finish on the calling thread, whose operation has left its queue. If the
    /// thread has an operation in hand, when that is gone.
    final class func releaseKept() {
        guard let kept = KeptAlive.take() else { return }
        if let thread = ofThisThread?.takeUnretainedValue(), thread.hasWork { thread.kept.append(kept) }
    }

    /// Whether the thread is inside the operation's `start`. On that thread.
    func isRunning(_ candidate: Operation) -> Bool { fatalError("abstract") }

    /// Whether it has an operation or a closure in hand.
    var hasWork: Bool { fatalError("abstract") }

    /// Keeps an operation that was made ready for its queue, which it is about to go back to. False if that is another
    /// queue.
    func keepReadied(_ operation: Operation) -> Bool { fatalError("abstract") }

    /// Gives its queue what it is to have: the slot of what has ended, and what became ready.
    func settle() { fatalError("abstract") }
}

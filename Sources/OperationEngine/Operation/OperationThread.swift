import CLinux

/// What operations need from the thread that runs them for a queue. `Runner` is its only subclass. Operations know no
/// more of runners.
///
/// The fields belong to that thread.
class OperationThread {
    /// Left here by a finishing operation, to be called once its slot is free (contract I7).
    @exclusivity(unchecked) final var completionBlock: (@Sendable () -> Void)?
    /// What a finishing operation has kept alive. Released together with it.
    @exclusivity(unchecked) final var kept: [KeptAlive] = []

    /// The object of the calling thread, if it has one. Not retained: it outlives everything that runs on its thread.
    @inline(__always)
    static var ofThisThread: Unmanaged<OperationThread>? { clinux_current_runner().map { Unmanaged.fromOpaque($0) } }

    /// The object of the calling thread, if this thread has chosen the operation for its queue and is inside its
    /// `start`.
    @inline(__always)
    static func about(toStart candidate: Operation) -> Unmanaged<OperationThread>? {
        guard let thread = ofThisThread else { return nil }
        return thread._withUnsafeGuaranteedRef { $0.isRunning(candidate) } ? thread : nil
    }

    /// Releases what was kept alive during a finish on the calling thread, whose operation has left its queue. If the
    /// thread has something in hand, it is released together with that.
    final class func releaseKept() {
        guard let kept = KeptAlive.take() else { return }
        if let thread = ofThisThread?.takeUnretainedValue(), thread.hasWork { thread.kept.append(kept) }
    }

    /// Whether this thread is inside the operation's `start`. Called on the thread itself.
    func isRunning(_ candidate: Operation) -> Bool { fatalError("abstract") }

    /// Whether it has an operation or a closure in hand.
    var hasWork: Bool { fatalError("abstract") }

    /// Keeps an operation of its own queue that was made ready: the thread is about to go back to that queue. Returns
    /// false if the operation is in another queue.
    func keepReadied(_ operation: Operation) -> Bool { fatalError("abstract") }

    /// Gives its queue the slot of what has ended and the operations that became ready.
    func settle() { fatalError("abstract") }
}

import CLinux
import Dispatch

/// Ends that a subclass decides about, because it overrides `isFinished` (contract C14, C15).
///
/// When `main` has returned, the engine sets `isEnding` and asks the override. If the answer is no, the operation
/// continues, and ends with the announcement of the subclass. The announcing thread asks too. The subclass changes its
/// answer and then announces; the engine sets `isEnding` and then asks. Both take a sequentially consistent step in
/// between, so at least one of the two sees a yes.
///
/// Where `main` is left out, nothing of the operation is left that could announce the end. So the engine does not ask,
/// and ends it. An announcement may come all the same: whichever of the two comes first ends the operation.
extension Operation {
    /// The answer of an overridden `isFinished` to the engine.
    ///
    /// An override may call `super.isFinished`, as in `super.isFinished && isWritten`. While the engine asks, that is
    /// true once the engine has done its part, as it is with Foundation. It is so on the asking thread alone: others
    /// find the operation executing until it is finished (contract A3).
    func askWhetherFinished() -> Bool {
        let outer = clinux_asked_operation()
        clinux_set_asked_operation(Unmanaged.passUnretained(self).toOpaque())
        defer { clinux_set_asked_operation(outer) }
        return isFinished
    }

    /// Whether the engine asks this operation, on the calling thread.
    var isBeingAsked: Bool { clinux_asked_operation() == Unmanaged.passUnretained(self).toOpaque() }

    /// Prepares the finish of an operation that is observed or overrides `isFinished`. Returns false if it does not
    /// finish now: its override says no, or another thread has finished it.
    ///
    /// - Parameter phase: as of `finish`. From another one than `executing`, `main` was left out.
    @inline(never)
    func prepareFinish(from phase: OperationState.Phase) -> Bool {
        if phase == .executing, state.load().has(OperationState.Word.hasOwnEnd) {
            guard state.beginEnding(), askWhetherFinished() else { return false }
        }
        if state.isObserved { announceFinish(from: phase) }
        return true
    }

    // MARK: Ends that are not announced

    /// Whether an overridden `isFinished` says that the operation is finished, for a thread that waits for it (contract
    /// C15). Operations without an override answer no.
    func isFinishedUnannounced() -> Bool {
        guard MethodOverride.isFinished.isPresent(in: self), isFinished else { return false }
        watchUnannouncedEnd()
        return true
    }

    /// Watches an operation that its queue has started if its overridden `isFinished` says yes and the end is not
    /// announced, which keeps its slot taken (contract C3). The announcement may still be on its way. So the operation
    /// is checked once more after `EndlessWait.patience`, and reported then, once.
    @inline(never)
    func watchUnannouncedEnd() {
        guard MethodOverride.isFinished.isPresent(in: self), state.load().awaitsAnnouncement, askWhetherFinished(),
            state.beginWatchingEnd()
        else { return }
        // Weak: if the end is announced after all, nothing else keeps it.
        DispatchQueue.global().asyncAfter(deadline: EndlessWait.endOfPatience) { [weak self] in
            self?.reportUnannouncedEnd()
        }
    }

    private func reportUnannouncedEnd() {
        if state.load().awaitsAnnouncement, askWhetherFinished() {
            Misuse.endNotAnnounced(operation: description).report()
        } else {
            state.endWatchingEnd()
        }
    }
}

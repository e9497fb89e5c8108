/// What a queue tells when a `main` that it ran has returned: the progress of the module `OperationEngineProgress`,
/// which may import Foundation where the engine may not.
package protocol EndOfMainListener: AnyObject, Sendable {
    /// Called on the thread of the operation, before it is finished, with no lock held.
    func mainHasEnded()
}

extension OperationQueue {
    /// The queue's listener, made by `make` if there is none yet; the queue keeps it for its life. From any thread.
    package final func endOfMainListener(orMake make: () -> any EndOfMainListener) -> any EndOfMainListener {
        core.endOfMainListener(orMake: make)
    }

    /// Tells the listener, for an operation that has run elsewhere than on its runner's thread.
    final func tellEndOfMain() {
        if core.hasEndOfMainListener { core.existingEndOfMainListener?.mainHasEnded() }
    }
}

extension Operation {
    /// Tells the listener of the queue that runs this operation, on the thread of its runner, which has not taken it out of
    /// its queue yet or keeps the queue alive. One load where there is no listener (contract P12).
    @inline(__always)
    final func tellEndOfMain() {
        if let queue, queue._withUnsafeGuaranteedRef({ $0.hasEndOfMainListener }) { tellListener() }
    }

    @inline(never)
    private func tellListener() {
        if !isBarrier { core?.takeUnretainedValue().existingEndOfMainListener?.mainHasEnded() }
    }
}

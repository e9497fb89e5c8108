extension OperationQueue {
    /// The queue's listener, made by `make` if there is none yet; the queue keeps it for its life. From any thread.
    package final func endOfMainListener(orMake make: () -> any EndOfMainListener) -> any EndOfMainListener {
        core.endOfMainListener(orMake: make)
    }

    /// Notifies the listener, for an operation that has run on another thread than its runner's.
    final func tellEndOfMain() {
        if core.hasEndOfMainListener { core.existingEndOfMainListener?.mainHasEnded() }
    }
}

extension Operation {
    /// Notifies the listener of the queue that runs this operation. Called on the thread of its runner, which has not
    /// taken it out of its queue yet, or keeps the queue alive. Costs one load if there is no listener (contract P12).
    @inline(__always)
    final func tellEndOfMain() {
        if let queue, queue._withUnsafeGuaranteedRef({ $0.hasEndOfMainListener }) { tellListener() }
    }

    @inline(never)
    private func tellListener() {
        if !isBarrier { queue?.takeUnretainedValue().existingEndOfMainListener?.mainHasEnded() }
    }
}

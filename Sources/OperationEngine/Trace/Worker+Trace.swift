import CLinux

/// Sends events of threads. Every call comes after a check of `TraceMarks`, with no lock held.
extension OperationTrace {
    @inline(never)
    static func tell(
        _ step: ThreadStep, of thread: Int32 = clinux_own_thread(), at time: Int64 = Deadline.now(),
        other: Int32? = nil, queue: QueueID? = nil
    ) {
        receiver?.receive(ThreadEvent(step: step, time: time, thread: thread, other: other, queue: queue))
    }
}

extension Worker {
    /// Wakes the thread, which is parked or about to park. With no lock held.
    func unpark() {
        if TraceMarks.threads { unparkTraced() } else { parker.unpark() }
    }

    @inline(never)
    private func unparkTraced() {
        // Relaxed: the token orders it.
        waker.store(clinux_own_thread(), ordering: .relaxed)
        // Before the call, in which the woken thread may get further than this one.
        let time = Deadline.now()
        parker.unpark()
        OperationTrace.tell(.wake, at: time, other: thread?.number)
    }

    /// Sleeps until another thread wakes it. Returns false on timeout.
    func park(timeoutNanoseconds: Int64) -> Bool {
        if TraceMarks.threads { return parkTraced(timeoutNanoseconds) }
        return parker.park(timeoutNanoseconds: timeoutNanoseconds)
    }

    @inline(never)
    private func parkTraced(_ timeoutNanoseconds: Int64) -> Bool {
        OperationTrace.tell(.park)
        let isCalled = parker.park(timeoutNanoseconds: timeoutNanoseconds)
        let waker = isCalled ? waker.exchange(0, ordering: .relaxed) : 0
        OperationTrace.tell(.unpark, other: waker == 0 ? nil : waker)
        return isCalled
    }
}

extension Worker {
    @inline(never)
    func trace(_ step: OperationTrace.ThreadStep) { OperationTrace.tell(step) }

    /// Called on the monitor's thread, which has counted the worker as blocked at that time.
    @inline(never)
    func traceGrowth(at time: Int64) {
        if let thread { OperationTrace.tell(.growth, of: thread.number, at: time) }
    }
}

extension Runner {
    @inline(never)
    func traceLease(_ step: OperationTrace.ThreadStep, of queue: QueueCore) {
        OperationTrace.tell(step, queue: OperationTrace.QueueID(queue))
    }
}

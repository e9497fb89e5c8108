import CLinux

/// Sends events of operations. Every call comes after a check of `TraceMarks`, and none is inlined into the paths of
/// operations that are not traced.
extension Operation {
    fileprivate func tell(_ step: OperationTrace.OperationStep, in queue: OperationTrace.QueueID?) {
        OperationTrace.receiver?.receive(
            OperationTrace.OperationEvent(
                step: step, time: Deadline.now(), thread: clinux_own_thread(), operation: self, queue: queue,
                isBarrier: isBarrier))
    }

    /// The queue's id, at any time: it names the queue without following it, since the queue may be gone.
    fileprivate var queueID: OperationTrace.QueueID? { queue.map { OperationTrace.QueueID($0) } }

    /// Publishes a claimed operation that is traced. Before that, no thread can make it ready. After that, the thread
    /// that makes it ready sends the event.
    @inline(never)
    func publishTraced() {
        tell(.enqueued, in: queueID)
        if state.publishQueue().isReadyUnasked { tell(.ready, in: queueID) }
    }

    /// Called by the one thread that is about to file it.
    @inline(never)
    func traceReady() { tell(.ready, in: queueID) }

    /// Called by a thread that is about to call `start` or `main`.
    @inline(never)
    func traceStart() { tell(.started, in: queueID) }

    /// Called inside the engine's own `start`. For an overridden `start`, the event was sent when a runner called it.
    @inline(never)
    func traceStartOfMain(on runner: Unmanaged<Runner>?) {
        if runner != nil, MethodOverride.start.isPresent(in: self) { return }
        traceStart()
    }

    @inline(never)
    func traceFinish() { tell(.finished, in: queueID) }

    @inline(never)
    func traceNotified() { tell(.notified, in: queueID) }
}

extension BatchFiler {
    /// Sends the `ready` of operations that one finish has made ready, except those whose `isReady` is still to be
    /// asked.
    @inline(never)
    static func traceReady(_ operations: some Collection<Unmanaged<Operation>>) {
        for operation in operations {
            operation._withUnsafeGuaranteedRef {
                if !$0.state.load().has(OperationState.Word.hasOwnReadiness) { $0.traceReady() }
            }
        }
    }
}

extension QueueCore {
    /// Sends the end of operations that were dropped and are not counted out yet.
    @inline(never)
    func traceEnd(of dropped: DroppedItems, _ conclude: () -> Void) {
        func tell(_ step: OperationTrace.OperationStep) {
            dropped.items.visitOperations { $0.tell(step, in: $0.queueID) }
        }
        tell(.finished)
        conclude()
        tell(.notified)
    }
}

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
    @inline(never)
    func trace(_ step: OperationTrace.ThreadStep, at time: Int64 = Deadline.now(), other: Int32? = nil) {
        OperationTrace.tell(step, at: time, other: other)
    }

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

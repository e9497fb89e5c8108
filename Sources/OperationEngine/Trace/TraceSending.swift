import CLinux

/// Sends events of operations. Every call comes after a check of `TraceMarks`, and none is inlined into the paths of
/// operations that are not traced.
extension OperationTrace {
    fileprivate static func tell(
        _ step: OperationStep, of id: OperationID, _ operation: Operation?, in core: Unmanaged<QueueCore>?
    ) {
        let event = OperationEvent(
            step: step, time: Deadline.now(), thread: clinux_own_thread(), id: id, operation: operation,
            isBarrier: operation?.isBarrier ?? false, core: core)
        forEachReceiver(of: .operations) { $0.receive(event) }
    }

    @inline(never)
    fileprivate static func tell(_ change: ChangeEvent.Change) {
        let event = ChangeEvent(change: change, time: Deadline.now(), thread: clinux_own_thread())
        forEachReceiver(of: .changes) { $0.receive(event) }
    }
}

extension Operation {
    /// The operation's identity, given at the first call. It lies in the details, so that an operation that is not traced
    /// has no memory for it.
    var traceID: OperationTrace.OperationID {
        withNewDetails { details in
            let id = details.traceID ?? .next()
            details.traceID = id
            return id
        }
    }

    fileprivate func tell(_ step: OperationTrace.OperationStep) {
        OperationTrace.tell(step, of: traceID, self, in: queue)
    }

    /// Publishes a claimed operation that is traced. Before that, no thread can make it ready. After that, the thread
    /// that makes it ready sends the event.
    @inline(never)
    func publishTraced() {
        if TraceMarks.operations { tell(.enqueued) }
        if TraceMarks.changes, state.load().has(OperationState.Word.hasDependencies) {
            for dependency in listDependencies() { traceDependency(on: dependency) }
        }
        if state.publishQueue().isReadyUnasked, TraceMarks.operations { tell(.ready) }
    }

    /// Called by the one thread that is about to file it.
    @inline(never)
    func traceReady() { tell(.ready) }

    /// Called by a thread that is about to call `start` or `main`.
    @inline(never)
    func traceStart() { tell(.started) }

    /// Called inside the engine's own `start`. For an overridden `start`, the event was sent when a runner called it.
    @inline(never)
    func traceStartOfMain(on runner: Unmanaged<Runner>?) {
        if runner != nil, MethodOverride.start.isPresent(in: self) { return }
        traceStart()
    }

    @inline(never)
    func traceFinish() { tell(.finished) }

    @inline(never)
    func traceNotified() { tell(.notified) }

    func traceCancellation() { OperationTrace.tell(.cancelled(traceID)) }

    func traceDependency(on operation: Operation) {
        OperationTrace.tell(.dependency(traceID, on: operation.traceID))
    }
}

extension WaitingClosure.Pointer {
    /// The closure's identity for the trace, which takes no memory of its own: its slab's number and its place.
    var traceID: OperationTrace.OperationID {
        let place = Int(pointee.slabPlace)
        return .ofClosure(slab: Slab<WaitingClosure>.number(of: self, place: place), place: place)
    }
}

extension OperationQueue {
    /// The settings that a recorder notes: the queue's own name if it has one, and its limit and suspension. Calls no
    /// override.
    package final var settingsForTrace: (name: String?, limit: Int, isSuspended: Bool) {
        let (limit, isSuspended) = core.read { ($0.limit, $0.isSuspended) }
        return (ownName, limit, isSuspended)
    }

    func traceChange(_ change: OperationTrace.ChangeEvent.Change) { OperationTrace.tell(change) }
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
    /// Sends an event of a closure of this queue that has no object.
    @inline(never)
    func trace(_ step: OperationTrace.OperationStep, of closure: OperationTrace.OperationID) {
        OperationTrace.tell(step, of: closure, nil, in: .passUnretained(self))
    }

    func traceAdding(_ closure: OperationTrace.OperationID) {
        trace(.enqueued, of: closure)
        trace(.ready, of: closure)
    }

    func traceEnd(of closure: OperationTrace.OperationID) {
        trace(.finished, of: closure)
        trace(.notified, of: closure)
    }

    /// Sends the end of what was dropped and is not counted out yet.
    @inline(never)
    func traceEnd(of dropped: DroppedItems, _ conclude: () -> Void) {
        func tell(_ step: OperationTrace.OperationStep) {
            dropped.items.visitAll {
                if $0.isClosure {
                    trace(step, of: $0.closure.traceID)
                } else {
                    $0.operation.takeUnretainedValue().tell(step)
                }
            }
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
        let event = ThreadEvent(step: step, time: time, thread: thread, other: other, queue: queue)
        forEachReceiver(of: .threads) { $0.receive(event) }
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

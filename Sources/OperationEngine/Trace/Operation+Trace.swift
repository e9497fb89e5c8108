import CLinux

/// What the engine tells of operations. All of it behind a look at `TraceMarks`, never inlined into the paths of
/// operations that are not traced.
extension Operation {
    fileprivate func tell(_ step: OperationTrace.OperationStep, in queue: OperationTrace.QueueID?) {
        OperationTrace.receiver?.receive(
            OperationTrace.OperationEvent(
                step: step, time: Deadline.now(), thread: clinux_own_thread(), operation: self, queue: queue,
                isBarrier: isBarrier))
    }

    /// Only while the operation is in no queue, or has not left it: see `queue`.
    fileprivate var queueID: OperationTrace.QueueID? { core?._withUnsafeGuaranteedRef(\.traceID) }

    /// The rest of adding a claimed operation, up to its place in the inbox. Before it is published nobody can make it
    /// ready; from then on the thread that does so tells of it.
    @inline(never)
    func publishTraced() {
        tell(.enqueued, in: queueID)
        if state.publishQueue().isReadyUnasked { tell(.ready, in: queueID) }
    }

    /// Called by the one thread that is about to file it.
    @inline(never)
    func traceReady() { tell(.ready, in: queueID) }

    /// By a thread that is about to call `start` or `main`.
    @inline(never)
    func traceStart() { tell(.started, in: queueID) }

    /// Called inside the engine's own `start`: an overridden one has been told of when it was called by a runner.
    @inline(never)
    func traceStartOfMain(on runner: Unmanaged<OperationThread>?) {
        if runner != nil, MethodOverride.start.isPresent(in: self) { return }
        traceStart()
    }

    /// What stands for no queue among identities, which are addresses.
    private static var noQueue: UInt { 1 }

    /// Tells of the finish. What is returned is to be handed to `traceNotified`: the operation may leave its queue in
    /// between, and that may be gone then.
    @inline(never)
    func traceFinish() -> UInt {
        let queue = queueID
        tell(.finished, in: queue)
        return queue?.bits ?? Self.noQueue
    }

    @inline(never)
    func traceNotified(_ queue: UInt) {
        tell(.notified, in: queue == Self.noQueue ? nil : OperationTrace.QueueID(bits: queue))
    }
}

extension BatchFiler {
    /// Tells of operations that one finish has made ready, but for those that are still to be asked.
    @inline(never)
    static func traceReady(_ operations: Slice<UnsafeMutableBufferPointer<Unmanaged<Operation>>>) {
        for operation in operations {
            operation._withUnsafeGuaranteedRef {
                if !$0.state.load().has(OperationState.Word.hasOwnReadiness) { $0.traceReady() }
            }
        }
    }
}

extension QueueCore {
    /// Of the `OperationQueue`, which may be gone.
    var traceID: OperationTrace.QueueID? { owner.map { OperationTrace.QueueID(bits: UInt(bitPattern: $0.toOpaque())) } }

    /// Tells of the end of operations that were dropped. They have not been counted out.
    @inline(never)
    func traceEnd(of dropped: DroppedOperations, _ conclude: () -> Void) {
        func tell(_ step: OperationTrace.OperationStep) {
            dropped.items.visitAll {
                guard case .operation(let operation) = $0.kind else { return }
                operation._withUnsafeGuaranteedRef { $0.tell(step, in: $0.queueID) }
            }
        }
        tell(.finished)
        conclude()
        tell(.notified)
    }
}

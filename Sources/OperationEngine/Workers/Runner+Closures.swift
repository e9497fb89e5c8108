import Synchronization

/// How a runner runs a closure: without an operation object, unless a thread asks for one in the meantime.
///
/// The asking thread makes the object under the queue's lock and leaves it in `closureObject`. From then on the object
/// represents the closure and has its slot. When the closure has returned, the runner finishes the object like any
/// operation.
extension Runner {
    /// The object of the running closure, if there is one. On the runner's own thread.
    @inline(__always)
    var objectOfClosure: Operation? {
        guard handPhase.load(ordering: .acquiring) == HandPhase.seen.rawValue, let queue else { return nil }
        return queue.lock.withLock { closureObject }
    }

    /// The same, made if there is none.
    func makeObject() -> Operation? { queue.map { queue in queue.lock.withLock { operationSeen(of: queue) } } ?? nil }

    /// Runs the closure in the hand.
    @inline(__always)
    func run(_ closure: WaitingClosure.Pointer, of queue: QueueCore) {
        if TraceMarks.operations { return runTraced(closure, of: queue) }
        run(closure, of: queue, tracedAs: nil)
    }

    @inline(never)
    private func runTraced(_ closure: WaitingClosure.Pointer, of queue: QueueCore) {
        run(closure, of: queue, tracedAs: closure.traceID)
    }

    @inline(__always)
    private func run(
        _ closure: WaitingClosure.Pointer, of queue: QueueCore, tracedAs id: OperationTrace.OperationID?
    ) {
        if let id { queue.trace(.started, of: id) }
        if call(closure, of: queue) {
            endCountedTogether(by: queue) {
                if let id { queue.traceEnd(of: id) }
                free(closure)
            }
        } else {
            free(closure)
            finishClosureObject(of: queue)
        }
    }

    /// Calls the closure and releases what it has captured, before the slot is given back (contract K13). Returns false
    /// if the closure has an object.
    @inline(never)
    private func call(_ closure: WaitingClosure.Pointer, of queue: QueueCore) -> Bool {
        // Another thread may copy the block, so it stays where it is until the hand is closed.
        let block = closure.pointee.block.borrow()
        block.run()
        block.forget()
        if queue.hasEndOfMainListener { queue.existingEndOfMainListener?.mainHasEnded() }
        // Observers of the queue are notified of the end of the object.
        if queue.hasObservers { _ = makeObject() }
        let hasNoObject = closeUnseen() || closeWithoutObject(of: queue)
        // A deinit that waits finds the closure in the hand: its slot counts as blocked.
        _ = closure.pointee.block.take()
        if hasNoObject { hand = .nothing }
        return hasNoObject
    }

    /// Closes the hand after another thread has looked into it, if that has made no object of the closure. A thread that
    /// makes one copies the block under the lock. Taking the lock waits for that.
    @inline(never)
    private func closeWithoutObject(of queue: QueueCore) -> Bool {
        queue.lock.withLock {
            if closureObject != nil { return false }
            handPhase.store(HandPhase.closed.rawValue, ordering: .relaxed)
            return true
        }
    }

    /// The closure has run as the block of an object. Finishes the object and takes it out of the queue.
    @inline(never)
    private func finishClosureObject(of queue: QueueCore) {
        let object = queue.lock.withLock {
            let object = Unmanaged<Operation>.passUnretained(closureObject.take().unsafelyUnwrapped)
            hand = .operation(object)
            return object
        }
        object._withUnsafeGuaranteedRef { $0.finish(from: .executing, on: .passUnretained(self)) }
        end(object, of: queue)
    }

    /// The operation in the hand, for a thread that holds the queue's lock. A closure gets an object, which the queue
    /// retains.
    func operationSeen(of queue: QueueCore) -> Operation? {
        guard let item = itemSeen() else { return nil }
        if !item.isClosure { return item.operation.takeUnretainedValue() }
        // The runner takes the block out of its place only when it has closed the hand.
        let block = item.closure.pointee.block.copy.unsafelyUnwrapped
        let object = BlockOperation(block, in: queue, for: item.closure)
        object.state.enterExecuting()
        object.place = ListPlace(kind: .chosen, level: .normal)
        closureObject = Unmanaged.passRetained(object).takeUnretainedValue()
        return object
    }
}
